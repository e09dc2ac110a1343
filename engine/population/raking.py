"""Iterative proportional fitting (Deming and Stephan 1940), which survey statistics calls raking.

Of all tables that agree with the given figures, it finds the one nearest to the seed in the sense of relative
entropy: the odds ratios of the seed are kept (Ireland and Kullback 1968).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population.streams import Floats


def counted(codes: NDArray[Any], weights: NDArray[Any], n: int) -> Floats:
    """Return the weight of each of the codes below n."""
    return np.bincount(codes, weights=weights, minlength=n).astype(np.float64)


@dataclass(frozen=True)
class Margin:
    """Figures that a table has to agree with: each cell of it counts towards one of them."""

    of_cell: NDArray[Any]
    targets: Floats

    def sums(self, cells: Floats) -> Floats:
        """Return what the cells come to, figure by figure."""
        return counted(self.of_cell, cells, len(self.targets))


@dataclass(frozen=True)
class Fitted:
    """A table after fitting. `deviation` is the largest one of any figure, as a share of the total."""

    cells: Floats
    iterations: int
    deviation: float
    converged: bool


def rake(seed: Floats, margins: Sequence[Margin], *, tolerance: float, max_iterations: int) -> Fitted:
    """Scale the cells of a seed table until they agree with every margin.

    All margins have the same total. A figure that is wanted where the seed has nothing can never be met: the
    result has then not converged.
    """
    cells = seed / seed.sum() * margins[0].targets.sum()
    deviation = _deviation(cells, margins)
    iterations = 0
    while deviation > tolerance and iterations < max_iterations:
        for margin in margins:
            sums = margin.sums(cells)
            factors = np.divide(margin.targets, sums, out=np.zeros_like(sums), where=sums > 0)
            cells = cells * factors[margin.of_cell]
        iterations += 1
        before, deviation = deviation, _deviation(cells, margins)
        if iterations > 50 and deviation > tolerance and before - deviation < 1e-6 * tolerance:
            break
    return Fitted(cells, iterations, deviation, deviation <= tolerance)


def _deviation(cells: Floats, margins: Sequence[Margin]) -> float:
    total = margins[0].targets.sum()
    return max(float(np.abs(margin.sums(cells) - margin.targets).max() / total) for margin in margins)

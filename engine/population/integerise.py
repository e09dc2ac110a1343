"""From a fitted table to whole people: truncate, replicate, sample (Lovelace and Ballas 2013), then put
right.

Every cell becomes its fitted value rounded down or up. Which ones are rounded up is first drawn, evenly over
the table, so that no kind of person is left out for being rare; then people are moved between cells as long
as that helps a figure that is not yet its target rounded down or up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.population.quotas import EPSILON, systematic
from engine.population.raking import Margin, counted
from engine.population.streams import Floats, Ints, shuffled, stream, uniform

MAX_WORK = 50_000_000
"""Cells looked at while putting right: about a second."""


def integerise(cells: Floats, total: int, margins: Sequence[Margin], seed: int) -> Ints:
    """Return whole numbers near the cells, which add up to a total. `margins` are in people, too."""
    order = shuffled(len(cells), stream(seed, "cells"))  # so that of equal cells any may be the first
    cells = cells[order] * (total / cells.sum())
    floors: Ints = np.floor(cells + EPSILON).astype(np.int64)
    fractions = np.clip(cells - floors, 0.0, None)
    left = total - int(floors.sum())
    counts = np.empty_like(floors)
    counts[order] = floors
    if left:
        raised = systematic(
            fractions, left, float(uniform(stream(seed, "start"), np.zeros(1, dtype=np.int64))[0])
        )
        figures = [_Figures(margin, order, floors + raised) for margin in margins]
        _put_right(raised, fractions > EPSILON, figures)
        counts[order] += raised
    return counts


class _Figures:
    """How far the sums of a margin are from where they may be."""

    def __init__(self, margin: Margin, order: Ints, counts: Ints) -> None:
        self.of_cell = margin.of_cell[order]
        self._sums = counted(self.of_cell, counts, len(margin.targets))
        self._low = np.floor(margin.targets + EPSILON)
        self._high = np.ceil(margin.targets - EPSILON)

    def cost(self, step: int) -> Floats:
        """Return for each cell by how much one person more, or less, adds to the squared deviations."""
        added: Floats = self._off(self._sums + step) ** 2 - self._off(self._sums) ** 2
        return np.asarray(added[self.of_cell])

    def move(self, cell: int, step: int) -> None:
        self._sums[self.of_cell[cell]] += step

    def _off(self, sums: Floats) -> Floats:
        above: Floats = np.maximum(sums - self._high, self._low - sums)
        return np.where(above > 0, above, 0.0)


def _put_right(raised: Ints, may_rise: NDArray[np.bool_], figures: Sequence[_Figures]) -> None:
    for _ in range(MAX_WORK // (len(raised) * max(1, len(figures)))):
        costs = np.where(raised > 0, sum(f.cost(-1) for f in figures), np.inf)
        source = int(np.argmin(costs))
        for figure in figures:
            figure.move(source, -1)
        gains = np.where(may_rise & (raised == 0), sum(f.cost(+1) for f in figures), np.inf)
        target = int(np.argmin(gains))
        if not costs[source] + gains[target] < 0:
            return
        for figure in figures:
            figure.move(target, +1)
        raised[source], raised[target] = 0, 1

"""Estimates with intervals: a value, and a thousand draws of what it might be.

The interval is a bootstrap over the sample's agents (Efron, Annals of Statistics 7, 1979): it covers the
chance that others were drawn, and how much rounds differed in speed. It does not cover that agents behave
otherwise in rounds that the sample did not reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

N_DRAWS = 1000
INTERVAL = (5, 95)
"""Percentiles of the draws: nine of ten lie between them."""

Draws = NDArray[np.float64]
"""The first entry is the estimate itself, N_DRAWS more follow; further axes as the name says."""


@dataclass(frozen=True)
class Figure:
    """An estimate and its interval."""

    value: float
    low: float
    high: float


def figure(draws: Draws) -> Figure:
    """Return the estimate and the interval of draws without further axes."""
    low, high = np.percentile(draws[1:], INTERVAL)
    return Figure(float(draws[0]), float(low), float(high))


def widened(found: Figure, share: float) -> Figure:
    """Return a figure whose interval reaches at least that share of it to both sides."""
    margin = share * found.value
    return Figure(found.value, min(found.low, found.value - margin), max(found.high, found.value + margin))


def mean_over_agents(counts: NDArray[np.float64], rng: np.random.Generator) -> Draws:
    """Return the mean over agents: first the real one, then those of resampled agents."""
    n_agents = len(counts)
    drawn = counts[rng.integers(0, n_agents, (N_DRAWS, n_agents))].mean(axis=1)
    draws: Draws = np.concatenate([counts.mean(axis=0)[None], drawn])
    return draws


def mean_over_rounds(values: NDArray[np.float64], rng: np.random.Generator) -> Draws:
    """Return the mean of a few values, then draws from Student's distribution around it."""
    mean, n = values.mean(), len(values)
    draws = np.full(N_DRAWS + 1, mean)
    if n > 1:
        draws[1:] += rng.standard_t(n - 1, N_DRAWS) * values.std(ddof=1) / np.sqrt(n)
    positive: Draws = np.maximum(draws, values.min() / 2)
    return positive

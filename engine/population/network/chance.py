"""Pairs that are each taken with the same probability, without looking at those that are not.

The gaps between the pairs taken have a geometric distribution (Batagelj and Brandes 2005), so that a sparse
network of a million people takes as many random numbers as it has ties.
"""

from __future__ import annotations

import numpy as np

from engine.population.network.graph import Array, check_size
from engine.population.streams import Ints, stream, uniform

Ties = tuple[Array, Array]


def pairs_within(n: int, probability: float, seed: int) -> Ties:
    """Return pairs out of n people, each with a probability: Gilbert's G(n, p)."""
    taken = _taken(n * (n - 1) // 2, probability, seed)
    one = ((1 + np.sqrt(1 + 8 * taken.astype(np.float64))) / 2).astype(np.int64)
    one -= one * (one - 1) // 2 > taken  # the root may be rounded to the next one
    one += (one + 1) * one // 2 <= taken
    return one, taken - one * (one - 1) // 2


def pairs_between(n: int, m: int, probability: float, seed: int) -> Ties:
    """Return pairs of one out of n and one out of m people, each with a probability."""
    one, other = np.divmod(_taken(n * m, probability, seed), m)
    return one, other


def _taken(total: int, probability: float, seed: int) -> Ints:
    """Return, in ascending order, which of the numbers below total are taken."""
    if probability <= 0 or total <= 0:
        return np.empty(0, dtype=np.int64)
    check_size(total * min(1.0, probability))
    if probability >= 1:
        return np.arange(total)
    parts, last, drawn = [], -1, 0
    while last < total:
        left = (total - last) * probability
        n = int(left + 4 * np.sqrt(left)) + 10
        u = uniform(stream(seed, "gaps"), np.arange(drawn, drawn + n))
        gaps = np.minimum(np.floor(np.log1p(-u) / np.log1p(-probability)), total)
        part = last + np.cumsum(gaps.astype(np.int64) + 1)
        parts.append(part)
        last, drawn = int(part[-1]), drawn + n
    taken = np.concatenate(parts)
    return np.asarray(taken[: np.searchsorted(taken, total)])

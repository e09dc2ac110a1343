"""From shares to whole numbers of people."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population.streams import Floats, Ints, ranks_within, stream, uniform

Array = NDArray[Any]

EPSILON = 1e-9
"""What rounding errors may put a product of a share and a size below the whole number that it is."""


def largest_remainder(wanted: Floats, total: int) -> Ints:
    """Round numbers that add up to `total`, each up or down, so that the whole ones add up to it, too.

    What rounding down leaves over goes to the largest fractions (Hamilton's method), the first of equal ones.
    """
    counts: Ints = np.floor(wanted + EPSILON).astype(np.int64)
    left = total - int(counts.sum())
    order = np.argsort(counts - wanted, kind="stable")
    counts[order[:left]] += 1
    return counts


def systematic(wanted: Floats, total: int, start: float) -> Ints:
    """Round as `largest_remainder` does, but by chance: each number is on average what was wanted.

    Systematic sampling (Madow and Madow 1944): points at distance one on the numbers laid end to end; `start`
    in [0, 1) is random. Needed where most numbers are fractions, of which the largest would always win.
    """
    ends = np.cumsum(wanted)
    ends *= total / ends[-1]
    points = np.floor(ends + start + EPSILON).astype(np.int64)
    points[-1] = total
    counts: Ints = np.diff(points, prepend=0)
    return counts


def even_positions(groups: Array, seed: int) -> Floats:
    """Return a number in (0, 1) for each member, spread evenly over the members of each group.

    Whatever is drawn with them by an inverse distribution function has its quotas within each group: a share
    p of m members goes to p m of them, rounded up or down by chance.
    """
    ranks, sizes = ranks_within(groups, stream(seed, "order"))
    starts = uniform(stream(seed, "start"), np.arange(len(sizes)))
    positions: Floats = (ranks + starts[groups]) / sizes[groups]
    return positions

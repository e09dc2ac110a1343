"""Who lives together: sizes of households, and whose is whose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.population.column import Numeric
from engine.population.quotas import largest_remainder
from engine.population.settings import Households
from engine.population.streams import Floats, Ints, shuffled, stream, uniform

NAMES = ("household", "household_size", "member")
"""The attributes that households give everybody."""


@dataclass(frozen=True)
class Grouping:
    """Households of given sizes, whose members are numbered one after the other."""

    sizes: Ints

    @cached_property
    def starts(self) -> Ints:
        """The first member of each household."""
        starts: Ints = np.cumsum(self.sizes) - self.sizes
        return starts

    @cached_property
    def of_person(self) -> Ints:
        """The household of each person."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def columns(self) -> dict[str, Numeric]:
        """Return what everybody knows of their household."""
        of_person = self.of_person
        member = np.arange(len(of_person)) - self.starts[of_person] + 1
        arrays = (of_person, self.sizes[of_person], member)
        return {name: Numeric(array, "integer") for name, array in zip(NAMES, arrays, strict=True)}


def draw(settings: Households, n: int, seed: int) -> Grouping:
    """Return households for n people; the last one may be smaller than any of the sizes."""
    sizes = np.array([int(size) for size in settings.sizes])
    shares = np.array(list(settings.sizes.values()))
    seed = stream(seed, "households")
    if settings.draw == "random":
        drawn = sizes[np.searchsorted(np.cumsum(shares)[:-1], uniform(seed, np.arange(n)), side="right")]
        return Grouping(_cut(drawn, n))
    return Grouping(_quotas(sizes, shares, n, seed))


def _cut(drawn: Ints, n: int) -> Ints:
    """Return as many of the households as hold n people."""
    ends = np.cumsum(drawn)
    last = int(np.searchsorted(ends, n))
    kept = drawn[: last + 1].copy()
    kept[-1] -= ends[last] - n
    return kept


def _quotas(sizes: Ints, shares: Floats, n: int, seed: int) -> Ints:
    n_households = int(n // (sizes @ shares))
    counts = largest_remainder(shares * n_households, n_households)
    while int(counts @ sizes) > n:
        counts[np.argmax(np.where(counts > 0, sizes, 0))] -= 1
    while len(fitting := np.flatnonzero(sizes <= n - int(counts @ sizes))):
        counts[fitting[np.argmax((shares * n_households - counts)[fitting])]] += 1
    left = n - int(counts @ sizes)
    ordered = np.repeat(sizes, counts)[shuffled(int(counts.sum()), seed)]
    return np.append(ordered, left) if left else ordered

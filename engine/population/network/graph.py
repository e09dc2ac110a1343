"""A network as compressed sparse rows: for each person, the others in ascending order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population.faults import PopulationError

MAX_TIES = 100_000_000
"""Ties of one network: 800 MB once built."""

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Graph:
    """Who knows whom; every tie is there in both directions, and nobody is their own neighbour."""

    first: NDArray[np.int64]
    """Where each person's neighbours begin, and at the end where the last one's end."""
    others: NDArray[np.int32]

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.first) - 1

    @property
    def n_ties(self) -> int:
        """How many pairs know each other."""
        return len(self.others) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """How many neighbours each person has."""
        return np.diff(self.first)

    def neighbours(self, i: int) -> NDArray[np.int32]:
        """Return whom a person knows, as a read-only view."""
        return self.others[self.first[i] : self.first[i + 1]]

    def ends(self) -> tuple[Array, Array]:
        """Return the two people of each tie, the smaller number first."""
        one = np.repeat(np.arange(self.n, dtype=np.int32), self.degrees)
        once = one < self.others
        return one[once], self.others[once]

    def renumbered(self, order: Array) -> Graph:
        """Return the network of the same people in another order: `order[k]` becomes number k."""
        number = np.empty(self.n, dtype=np.int64)
        number[order] = np.arange(self.n)
        one, other = self.ends()
        return from_ties(self.n, number[one], number[other])


def from_ties(n: int, one: Array, other: Array) -> Graph:
    """Return the network of ties given as two arrays; ties given twice count once, ties to oneself not at
    all."""
    from scipy.sparse import coo_array

    check_size(len(one))
    is_tie = one != other
    one, other = one[is_tie].astype(np.int32), other[is_tie].astype(np.int32)
    ends = (np.concatenate([one, other]), np.concatenate([other, one]))
    rows = coo_array((np.ones(len(ends[0]), dtype=np.bool_), ends), shape=(n, n)).tocsr()
    rows.sum_duplicates()
    first, others = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    for array in (first, others):
        array.flags.writeable = False
    return Graph(first, others)


def union(graphs: Sequence[Graph]) -> Graph | None:
    """Return the network of all ties of several; None of none."""
    if len(graphs) < 2:
        return graphs[0] if graphs else None
    ends = [graph.ends() for graph in graphs]
    return from_ties(graphs[0].n, *(np.concatenate(side) for side in zip(*ends, strict=True)))


def check_size(n_ties: float) -> None:
    """Raise PopulationError for networks that would not fit into memory."""
    if n_ties > MAX_TIES:
        raise PopulationError(f"a network of {n_ties:,.0f} ties; {MAX_TIES:,} are possible", "networks")

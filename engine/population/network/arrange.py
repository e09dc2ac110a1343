"""Numbers for people such that neighbours have numbers near each other.

Workers hold ranges of numbers, so this keeps ties, and with them messages, within workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from engine.population.column import Column, coded
from engine.population.network.graph import Array, Graph, from_ties
from engine.population.streams import Ints

PARTS = 16
"""Ranges by which orders are compared."""


def crossing(graph: Graph, bounds: Sequence[int] | Array) -> float:
    """Return the share of ties whose ends are in different ranges; `bounds` are where ranges begin."""
    if not graph.n_ties:
        return 0.0
    one, other = graph.ends()
    part = np.searchsorted(np.asarray(bounds), np.arange(graph.n), side="right")
    return float((part[one] != part[other]).mean())


def even_bounds(n: int, parts: int) -> Array:
    """Return where the parts of a range begin whose sizes differ by one at most."""
    return np.arange(parts) * n // parts


def best_order(graph: Graph, columns: Mapping[str, Column], names: Sequence[str], unit: Ints) -> Ints | None:
    """Return the order that leaves the fewest ties between ranges; None if it is the present one.

    Tried are the attributes that networks go by, and the order of Cuthill and McKee (1969). `unit` is each
    person's household, or number: its members stay together.
    """
    bounds = even_bounds(graph.n, PARTS)
    best, least = None, crossing(graph, bounds)
    for order in _orders(graph, columns, names, unit):
        number = np.empty(graph.n, dtype=np.int64)
        number[order] = np.arange(graph.n)
        one, other = graph.ends()
        part = np.searchsorted(bounds, number, side="right")
        share = float((part[one] != part[other]).mean()) if graph.n_ties else 0.0
        if share < 0.95 * least:  # not for nothing
            best, least = order, share
    return best


def _orders(graph: Graph, columns: Mapping[str, Column], names: Sequence[str], unit: Ints) -> Iterator[Ints]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    heads = np.flatnonzero(np.diff(unit, prepend=-1))
    for name in names:
        codes = coded(columns[name])[0][heads]
        yield _members(np.argsort(codes, kind="stable"), unit)
    whole = _quotient(graph, unit, len(heads))
    ones = np.ones(len(whole.others), dtype=np.int8)
    rows = csr_array((ones, whole.others, whole.first.astype(np.int32)), shape=(whole.n, whole.n))
    yield _members(reverse_cuthill_mckee(rows, symmetric_mode=True), unit)


def _quotient(graph: Graph, unit: Ints, n_units: int) -> Graph:
    """Return the network of households."""
    if n_units == graph.n:
        return graph
    one, other = graph.ends()
    return from_ties(n_units, unit[one], unit[other])


def _members(units: Ints, unit: Ints) -> Ints:
    """Return the people of units in the units' order."""
    rank = np.empty(len(units), dtype=np.int64)
    rank[units] = np.arange(len(units))
    order: Ints = np.argsort(rank[unit], kind="stable")
    return order

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.population.faults import PopulationError
from engine.population.network.graph import MAX_TIES, Graph, check_size, from_ties, union

PEOPLE = 12
TIES = st.lists(st.tuples(st.integers(0, PEOPLE - 1), st.integers(0, PEOPLE - 1)), max_size=40)


def graph(ties: list[tuple[int, int]]) -> Graph:
    array = np.array(ties, dtype=np.int64).reshape(-1, 2)
    return from_ties(PEOPLE, array[:, 0], array[:, 1])


def pairs(found: Graph) -> set[tuple[int, int]]:
    return {(i, int(j)) for i in range(found.n) for j in found.neighbours(i)}


def both_ways(ties: list[tuple[int, int]]) -> set[tuple[int, int]]:
    return {pair for a, b in ties if a != b for pair in ((a, b), (b, a))}


@given(TIES)
def test_neighbours_are_those_of_the_ties(ties: list[tuple[int, int]]) -> None:
    found = graph(ties)
    assert pairs(found) == both_ways(ties)
    assert len(found.others) == len(pairs(found))
    assert (found.n, 2 * found.n_ties) == (PEOPLE, len(found.others))
    assert all((np.diff(found.neighbours(i)) > 0).all() for i in range(PEOPLE))
    assert found.degrees.tolist() == [len(found.neighbours(i)) for i in range(PEOPLE)]


@given(TIES, st.permutations(range(PEOPLE)))
def test_renumbering_keeps_who_knows_whom(ties: list[tuple[int, int]], order: list[int]) -> None:
    found = graph(ties).renumbered(np.array(order))
    assert {(order[a], order[b]) for a, b in pairs(found)} == both_ways(ties)


@given(st.lists(TIES, min_size=1, max_size=3))
def test_a_union_has_all_ties(lists: list[list[tuple[int, int]]]) -> None:
    found = union([graph(ties) for ties in lists])
    assert found is not None
    assert pairs(found) == both_ways([tie for ties in lists for tie in ties])


def test_neighbours_are_a_read_only_view() -> None:
    known = graph([(0, 1)]).neighbours(0)
    assert known.base is not None
    with pytest.raises(ValueError, match="read-only"):
        known[0] = 2


def test_networks_that_would_fill_the_memory_are_refused() -> None:
    check_size(MAX_TIES)
    with pytest.raises(PopulationError, match="100,000,000 are possible"):
        check_size(MAX_TIES + 1)

"""Who lives where: nobody is lost, nobody lives twice, and everything is as even as it can be."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from engine.cluster.placement import Placement, split


@st.composite
def placements(draw: st.DrawFn) -> Placement:
    n_agents = draw(st.integers(1, 300))
    return Placement(n_agents, draw(st.integers(1, n_agents)), draw(st.integers(1, 40)))


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 50))
def test_a_split_loses_nothing_and_differs_by_one_at_most(start: int, length: int, parts: int) -> None:
    total = range(start, start + length)
    ranges = split(total, parts)
    assert len(ranges) == parts
    assert list(chain.from_iterable(ranges)) == list(total)
    assert max(map(len, ranges)) - min(map(len, ranges)) <= 1


@given(placements())
def test_everybody_lives_in_one_place_and_in_one_group(placement: Placement) -> None:
    everybody = list(range(placement.n_agents))
    assert list(chain.from_iterable(share.members for share in placement.shares)) == everybody
    assert list(chain.from_iterable(placement.groups)) == everybody
    assert all(share.members for share in placement.shares)
    for share in placement.shares:
        assert set(share.members) <= set(placement.groups[share.group])


@given(placements())
def test_lookups_agree_with_the_shares(placement: Placement) -> None:
    for share in placement.shares:
        assert {placement.worker_of(agent) for agent in share.members} == {share.worker}
        assert share in placement.on(share.worker)
        assert share in placement.of(share.group)
    for group, members in enumerate(placement.groups):
        assert list(chain.from_iterable(share.members for share in placement.of(group))) == list(members)


@given(placements())
def test_groups_are_whole_where_there_are_enough_of_them(placement: Placement) -> None:
    if len(placement.groups) >= placement.n_workers:
        assert all(len(placement.of(group)) == 1 for group in range(len(placement.groups)))
    else:
        n_workers = [len(placement.of(group)) for group in range(len(placement.groups))]
        assert max(n_workers) - min(n_workers) <= 1
        assert all(len({share.worker for share in placement.of(g)}) == n for g, n in enumerate(n_workers))


@given(placements())
def test_every_worker_has_work(placement: Placement) -> None:
    assert placement.n_workers <= placement.n_agents
    assert {share.worker for share in placement.shares} == set(range(placement.n_workers))


@given(placements())
def test_workers_are_loaded_evenly(placement: Placement) -> None:
    """By one agent where a group is spread, by one group where groups are whole, by both where some are."""
    loads = [sum(len(share.members) for share in placement.on(w)) for w in range(placement.n_workers)]
    n_groups = len(placement.groups)
    if n_groups == 1:
        assert max(loads) - min(loads) <= 1
    elif n_groups >= placement.n_workers:
        whole = [len(placement.on(w)) for w in range(placement.n_workers)]
        assert max(whole) - min(whole) <= 1


def test_a_million_agents_cost_nothing_each() -> None:
    placement = Placement(10**9, 3, 40)
    assert len(placement.shares) == 40
    assert placement.worker_of(10**9 - 1) == 39

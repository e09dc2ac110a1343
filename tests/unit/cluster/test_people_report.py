"""What a run says of its people: how many ties lead to another worker, and where workers begin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cluster.people_report import people_report, starts, told
from engine.cluster.placement import Placement
from tests.fakes.populations import people, shares

RING = shares("job", cook=0.5, nurse=0.5) + (
    '[networks.ring]\nkind = "small_world"\nneighbours = 2\nrewired = 0.0\n'
)


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 9))
def test_workers_begin_where_others_end(n_agents: int, n_groups: int, n_workers: int) -> None:
    placement = Placement(n_agents, min(n_groups, n_agents), n_workers)
    begins = starts(placement)
    owners = [placement.worker_of(agent) for agent in range(n_agents)]
    assert begins == [i for i in range(n_agents) if i == 0 or owners[i] != owners[i - 1]]


@pytest.mark.parametrize(("workers", "crossing"), [(1, 0.0), (2, 0.02), (4, 0.04)])
def test_ties_to_another_worker_are_counted(workers: int, crossing: float) -> None:
    found = people_report(people(RING, 100), Placement(100, 1, workers), None)
    assert (found.ties, found.workers, found.attributes) == (100, workers, 1)
    assert found.crossing == pytest.approx(crossing)


def test_communities_are_on_a_worker_of_their_own() -> None:
    groups = shares("club", **{f"c{i}": 0.1 for i in range(10)})
    groups += '[networks.club]\nkind = "groups"\nattributes = ["club"]\n'
    here = people_report(people(groups, 200), Placement(200, 1, 4), None)
    there = people_report(people('arrange = "drawn"\n' + groups, 200), Placement(200, 1, 4), None)
    assert here.crossing < 0.15 < 0.7 < there.crossing


def test_what_the_file_keeps() -> None:
    found = told(people(RING, 100))
    assert found["attributes"]["comparisons"][0]["largest_deviation"] == 0
    assert found["networks"][0].ties == 100


def test_personas_are_described() -> None:
    text = RING + '[persona]\ntemplate = "You are a {{ job }} and no. {{ job }}."\n'
    found = people_report(people(text, 100), Placement(100, 1, 1), None).diversity
    assert found is not None
    assert (found.texts, found.coverage) == (100, {"job": 1.0})
    assert found.near_duplicates == 0.98

from collections import Counter
from dataclasses import dataclass

import pytest

from engine.models.vllm.routing import BOUND, SLACK, Ring, choose


@dataclass
class Candidate:
    load: int = 0
    capacity: float = 100.0


@pytest.fixture
def ring() -> Ring:
    return Ring([f"http://gpu{n}:8000" for n in range(5)])


def test_a_walk_meets_every_server_once(ring):
    for key in range(100):
        assert sorted(ring.walk(key)) == list(range(5))


def test_keys_are_spread_over_servers(ring):
    owners = Counter(next(ring.walk(key)) for key in range(5000))
    assert min(owners.values()) > 500


def test_most_keys_stay_where_they_are_when_a_server_joins(ring):
    more = Ring([f"http://gpu{n}:8000" for n in range(6)])
    moved = [key for key in range(2000) if next(ring.walk(key)) != next(more.walk(key))]
    assert len(moved) < 2000 / 3
    assert {next(more.walk(key)) for key in moved} == {5}


def test_the_order_of_servers_in_the_preset_does_not_matter(ring):
    names = [f"http://gpu{n}:8000" for n in range(5)]
    turned = Ring(names[::-1])
    assert all(next(ring.walk(key)) == 4 - next(turned.walk(key)) for key in range(100))


def test_the_first_in_order_gets_it_until_its_load_is_out_of_bounds():
    servers = [Candidate() for _ in range(4)]
    chosen = []
    for _ in range(1000):
        at = choose(iter([2, 0, 1, 3]), servers)
        servers[at].load += 1
        chosen.append(at)
    assert chosen[: SLACK + 1] == [2] * (SLACK + 1)
    assert servers[2].load <= BOUND * 1000 / 4 + SLACK + 2
    assert max(server.load for server in servers) == servers[2].load


def test_bounds_follow_capacity():
    servers = [Candidate(capacity=300.0), Candidate(capacity=100.0)]
    for _ in range(1000):
        at = choose(iter([1, 0]), servers)
        servers[at].load += 1
    assert servers[1].load == pytest.approx(BOUND * 1000 / 4, abs=SLACK + 2)


def test_a_server_that_takes_nothing_is_passed_over():
    servers = [Candidate(capacity=0), Candidate(load=10**6), Candidate(load=2 * 10**6)]
    assert choose(iter([0, 2, 1]), servers) == 1
    assert choose(iter([0, 2, 1]), [Candidate(capacity=0)] * 3) is None


def test_the_server_to_avoid_is_the_last_resort():
    servers = [Candidate(), Candidate(load=50)]
    assert choose(iter([0, 1]), servers, avoid=0) == 1
    servers[1].capacity = 0
    assert choose(iter([0, 1]), servers, avoid=0) == 0

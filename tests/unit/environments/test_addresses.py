"""Ids of environments: one each, beyond those of agents, and found again."""

from hypothesis import given
from hypothesis import strategies as st

from engine.environments.addresses import WORLD, Address, Addresses
from engine.environments.environment import Environment


class Room(Environment):
    pass


class Town(Environment):
    scope = "world"


@given(st.integers(1, 50), st.integers(1, 9), st.integers(0, 3), st.integers(0, 3))
def test_every_environment_has_an_id_of_its_own(n_agents: int, groups: int, rooms: int, towns: int) -> None:
    kinds = {f"room {n}": Room for n in range(rooms)} | {f"town {n}": Town for n in range(towns)}
    addresses = Addresses(kinds, n_agents, groups, lambda group: group + 5)
    numbers = set()
    for group in (*range(groups), WORLD):
        for name, number in addresses.settled_with(group).items():
            assert addresses.about(number) == Address(name, group)
            assert addresses.worker_of(number) == (0 if group == WORLD else group + 5)
            assert addresses.of(group)[name] == number
            numbers.add(number)
    assert numbers == set(range(n_agents, n_agents + rooms * groups + towns))
    assert set(addresses.of(0)) == set(kinds)

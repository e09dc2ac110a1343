"""Messages told: on one worker and on two, they come to the same."""

from typing import Any

import numpy as np
import pytest

from engine.agents.agent import Agent
from engine.keys import unpack
from tests.fakes.town import Town
from tests.unit.agents.conftest import Build


class Gossip(Agent):
    """Tells everybody its number, twice."""

    async def step(self, observation: Any) -> None:
        for n in (1, 2):
            for other in self.world.members:
                self.tell(other, [self.id, n])


def test_an_inbox_is_sorted_by_sender_and_keeps_each_senders_order(town: Build) -> None:
    told = town(Gossip, 6)
    told.play(5, 0, 3, 1, 4, 2)
    everything = [(sender, [sender, n]) for sender in range(6) for n in (1, 2)]
    assert [told.inbox(i) for i in range(6)] == [everything] * 6


def test_an_inbox_is_emptied_by_looking(town: Build) -> None:
    told = town(Gossip, 2)
    told.play(0)
    assert told.inbox(1)
    assert told.inbox(1) == []


def test_messages_are_kept_apart_by_round() -> None:
    told = Town(Gossip, 2, 1)
    told.play(0)
    told.round = 2
    told.play(1)
    assert [sender for sender, _ in told.inbox(0)] == [1, 1]


def test_messages_to_other_workers_are_counted_where_they_go_and_where_they_arrive() -> None:
    told = Town(Gossip, 6, 3)
    told.play(0)
    assert told.sent == {1: 4, 2: 4}
    assert [office.mail.arrived[1, 0] for office in told.offices] == [0, 4, 4]


def test_what_was_told_is_a_copy(town: Build) -> None:
    class Mutable(Agent):
        async def step(self, observation: Any) -> None:
            message = [1]
            self.tell(1, message)
            message.append(2)

    told = town(Mutable, 2)
    told.play(0)
    assert told.inbox(1) == [(0, [1])]


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("way", ["tell", "ask"])
def test_strangers_are_out_of_reach_unless_groups_are_coupled(town: Build, way: str, coupled: bool) -> None:
    class Intruder(Agent):
        async def step(self, observation: Any) -> Any:
            if way == "tell":
                return self.tell(3, "hello")
            return await self.ask(3, "hello")

        async def receive(self, message: str, sender: int) -> str:
            return f"{message} {sender}"

    told = town(Intruder, 4, coupled=coupled)
    for agent in told.agents:
        agent.world.members = range(2) if agent.id < 2 else range(2, 4)
    told.acted.add(3)
    told.play(0)
    if not coupled:
        assert isinstance(told.endings.errors[0], ValueError)
        assert "agent 3 is not in group 0" in str(told.endings.errors[0])
    elif way == "tell":
        assert told.inbox(3) == [(0, "hello")]
    else:
        assert told.endings.values == {0: "hello 0"}


@pytest.mark.parametrize("receiver", [-1, 4, 2**40])
def test_nobody_lives_outside_the_population(town: Build, receiver: int) -> None:
    class Lost(Agent):
        async def step(self, observation: Any) -> None:
            self.tell(receiver, "hello")

    told = town(Lost, 4, coupled=True)
    told.play(0)
    assert isinstance(told.endings.errors[0], ValueError)


@pytest.mark.parametrize("way", ["tell", "ask"])
def test_receivers_may_be_drawn_by_numpy(town: Build, way: str) -> None:
    class Random(Agent):
        async def step(self, observation: Any) -> Any:
            receiver = np.random.default_rng(1).choice(np.arange(1, 6))
            return self.tell(receiver, "you") if way == "tell" else await self.ask(receiver, "you")

        async def receive(self, message: str, sender: int) -> str:
            return message

    told = town(Random, 6)
    told.acted.update(range(1, 6))
    told.play(0)
    if way == "tell":
        assert [receiver for receiver in range(6) if told.inbox(receiver)] == [3]
    else:
        assert told.endings.values == {0: "you"}


def test_a_receiver_is_no_fraction(town: Build) -> None:
    class Halves(Agent):
        async def step(self, observation: Any) -> None:
            self.tell(2.5, "you two")  # type: ignore[arg-type]

    told = town(Halves, 4)
    told.play(0)
    assert isinstance(told.endings.errors[0], TypeError)


def test_what_is_told_to_an_agent_that_has_stopped_is_in_the_failure_ledger(town: Build) -> None:
    told = town(Gossip, 4)
    told.play(2, 1)
    office = told.office(3)
    office.mail.refuse(3, 2)
    [(key, kind, detail, _, action)] = office.record.take().failures
    assert unpack(key) == (2, 3, 0)
    assert (kind, action) == ("undelivered", "dropped")
    assert detail == "4 to an agent that acts no more, the first from agent 1"
    assert told.inbox(3) == []
    office.mail.refuse(3, 3)
    assert office.record.take().failures == []


@pytest.mark.parametrize("way", ["tell", "ask", "broadcast"])
@pytest.mark.parametrize("nobody", [-1, 4])
def test_a_message_to_nobody_says_who_there_is(town: Build, way: str, nobody: int) -> None:
    class Lost(Agent):
        async def step(self, observation: Any) -> Any:
            if way == "ask":
                return await self.ask(nobody, "hello?")
            return self.tell(nobody, 1) if way == "tell" else self.broadcast(1, [0, nobody])

    told = town(Lost, 4)
    told.play(0)
    assert str(told.endings.errors[0]) == f"there is no agent {nobody}: the last one is 3"

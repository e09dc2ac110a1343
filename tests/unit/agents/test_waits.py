"""Agents that wait for each other in a circle, on any number of workers: they are told, and no others."""

from typing import Any

import pytest

from engine.agents.agent import Agent
from engine.agents.effects import gather
from engine.agents.post import NoAnswer, Probe
from engine.agents.waits import MAX_HOPS, Waits, named
from engine.keys import pack, unpack
from tests.fakes.town import Town


class Asker(Agent):
    async def step(self, observation: Any) -> Any:
        questions = [self.ask(other, "after you") for other in self.world.scenario.asks.get(self.id, ())]
        return await gather(*questions)

    async def receive(self, message: str, sender: int) -> Any:
        if message == "after you" and self.id in self.world.scenario.answers_by_asking:
            return await self.ask(self.world.scenario.answers_by_asking[self.id], "and you?")
        return [self.id, sender]


def play(
    n: int,
    workers: int,
    asks: dict[int, list[int]],
    order: tuple[int, ...] = (),
    *,
    answers_by_asking: dict[int, int] | None = None,
    **limits: int,
) -> Town:
    """Let all act, in an order, and carry their mail after each, and at the end alone."""
    town = Town(Asker, n, workers, **limits)
    town.scenario.asks, town.scenario.answers_by_asking = asks, answers_by_asking or {}
    for agent_id in order or range(n):
        town.act(agent_id)
    town.carry()
    return town


@pytest.mark.parametrize("workers", [1, 2, 3, 6])
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0), (3, 0, 5, 2, 1, 4)])
@pytest.mark.parametrize("carried", ["after each", "at the end"])
def test_a_circle_is_named_and_its_members_alone_are_told(
    workers: int, order: tuple[int, ...], carried: str
) -> None:
    """3 asks 5 asks 1 asks 3; 0 asks 3 and is answered once that is over; 2 and 4 are no part of it."""
    town = Town(Asker, 6, workers)
    town.scenario.asks = {3: [5], 5: [1], 1: [3], 0: [3], 2: [4]}
    town.scenario.answers_by_asking = {}
    for agent_id in order:
        town.act(agent_id)
        if carried == "after each":
            town.carry()
    town.carry()
    assert {i: str(error) for i, error in town.endings.errors.items()} == {
        3: "agent 3 asks agent 5 asks agent 1 asks agent 3: all wait for each other",
        5: "agent 5 asks agent 1 asks agent 3 asks agent 5: all wait for each other",
        1: "agent 1 asks agent 3 asks agent 5 asks agent 1: all wait for each other",
    }
    assert all(isinstance(error, NoAnswer) for error in town.endings.errors.values())
    assert town.endings.values == {0: [[3, 0]], 2: [[4, 2]], 4: []}


@pytest.mark.parametrize("workers", [1, 2])
def test_who_asks_itself_is_told(workers: int) -> None:
    town = play(2, workers, {1: [1]})
    assert str(town.endings.errors[1]) == "agent 1 asks agent 1: all wait for each other"


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_one_of_several_questions_may_be_in_a_circle(workers: int) -> None:
    """Whoever gathers answers needs all of them."""
    town = play(4, workers, {0: [2, 1, 3], 1: [0]})
    assert sorted(town.endings.errors) == [0, 1]
    assert "agent 0 asks agent 1 asks agent 0" in str(town.endings.errors[0])


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_circle_may_go_through_one_that_is_answering(workers: int) -> None:
    """2 is free and answers 1 by asking 0, whose step waits for 2."""
    town = Town(Asker, 3, workers)
    town.scenario.asks, town.scenario.answers_by_asking = {1: [2], 0: [2]}, {2: 0}
    for agent_id in (2, 1, 0):
        town.act(agent_id)
        town.carry()
    assert "agent 0 asks agent 2 asks agent 0" in str(town.endings.errors[0])
    assert "agent 2 could not answer: NoAnswer" in str(town.endings.errors[1])


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_what_is_no_circle_is_let_be(workers: int) -> None:
    """A chain in any order, a fork, and two that are asked by the same."""
    town = play(8, workers, {i: [i - 1] for i in range(1, 8)})
    assert town.endings.errors == {}
    town = play(8, workers, {0: [1, 2, 3], 1: [4, 5], 2: [5], 3: [7]}, (7, 0, 1, 2, 3, 4, 5, 6))
    assert town.endings.errors == {}
    assert town.endings.n == 8


@pytest.mark.parametrize("workers", [2, 3])
def test_a_circle_of_full_mailboxes_is_named(workers: int) -> None:
    """With room for one question: all of the first half ask agent 6, all of the second agent 0."""
    n = 12
    asks = {i: [6] for i in range(6)} | {i: [0] for i in range(6, n)}
    town = play(n, workers, asks, (*range(1, 6), *range(7, n), 0, 6), credit=1)
    assert "agent 0 asks agent 6 asks agent 0" in str(town.endings.errors[0])
    assert sorted(town.endings.errors) == [0, 6]
    assert town.endings.values == {i: [[6, i]] for i in range(1, 6)} | {i: [[0, i]] for i in range(7, n)}


def test_a_long_circle_is_left_to_the_standstill_of_the_run() -> None:
    n = MAX_HOPS + 10
    town = play(n, 1, {i: [(i + 1) % n] for i in range(n)})
    assert town.endings.n == 0
    town.offices[0].mail.questions.give_up()
    town.carry()
    assert len(town.endings.errors) == n


def test_a_probe_is_stopped_where_the_question_has_been_answered() -> None:
    """Its answer is on its way: who asked will go on."""
    found: list[list[int]] = []
    sent: list[Probe] = []
    waits = Waits(
        worker=1,
        worker_of=lambda agent: agent,
        probe=lambda worker, probe: sent.append(probe),
        found=found.append,
    )
    first, second = pack(1, 0), pack(1, 1)
    waits.came(first, 1)
    waits.answered(first)
    waits.add(second, 0)
    waits.take(Probe([first], 1, False))
    assert (found, sent) == ([], [])
    waits.take(Probe([first], 1, True))
    assert sent == [Probe([first, second], 0, False)]


def test_a_long_circle_is_named_in_short() -> None:
    text = named([pack(1, agent) for agent in range(40)], 7)
    assert text.startswith("agent 7 asks agent 8 asks")
    assert text.endswith("asks ... 29 more agents ... asks agent 7")
    assert [unpack(key).agent for key in (pack(1, 3), pack(1, 4))] == [3, 4]

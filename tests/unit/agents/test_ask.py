"""Messages asked: on one worker and on two, they come to the same."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from engine.agents.agent import Agent
from engine.agents.calls import STEP_CALLS, TooManyCalls, take_key
from engine.agents.post import AskFailed, NoAnswer
from engine.keys import pack, unpack
from tests.fakes.town import Town
from tests.unit.agents.conftest import Build


class Neighbours(Agent):
    """Agent 0 asks the last agent, the others only answer."""

    async def step(self, observation: Any) -> Any:
        if self.id == 0:
            return await self.ask(self.world.members[-1], {"n": 3})
        return "stepped"

    async def receive(self, message: Any, sender: int) -> Any:
        return [message["n"] + 1, sender]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["asked before", "asked after"])
def test_an_ask_is_answered_once_the_asked_one_has_stepped(town: Build, order: tuple[int, int]) -> None:
    asked = town(Neighbours, 2)
    for agent_id in order:
        asked.play(agent_id)
        if order[0] == agent_id == 0:
            assert 0 not in asked.endings.values
    assert asked.endings.values == {0: [4, 0], 1: "stepped"}


def expire(asked: Town) -> None:
    """Tell all workers that nothing moves any more."""
    for office in asked.offices:
        office.mail.questions.give_up()
    asked.carry()


def test_who_is_asked_and_never_acts_is_waited_for_until_nothing_else_moves(town: Build) -> None:
    asked = town(Neighbours, 2)
    asked.play(0)
    assert asked.endings.n == 0
    expire(asked)
    assert isinstance(asked.endings.errors[0], NoAnswer)
    assert "agent 1 did not answer" in str(asked.endings.errors[0])


def test_a_stopped_agent_answers_nobody(town: Build) -> None:
    asked = town(Neighbours, 2)
    asked.stopped.add(1)
    asked.play(0)
    assert isinstance(asked.endings.errors[0], AskFailed)
    assert "agent 1 has stopped" in str(asked.endings.errors[0])


def test_an_agent_that_stops_tells_those_who_wait(town: Build) -> None:
    class Fragile(Neighbours):
        async def step(self, observation: Any) -> Any:
            if self.id == 1:
                raise RuntimeError("broken")
            return await Neighbours.step(self, observation)

    asked = town(Fragile, 2)
    asked.act(0)
    asked.carry()
    asked.stopped.add(1)  # as a share does on hearing of the error
    asked.act(1)
    asked.carry()
    assert isinstance(asked.endings.errors[0], AskFailed)


class Answerers(Agent):
    """Agent 0 asks agent 1, which answers as `how` says."""

    how: Callable[["Answerers"], Any]

    async def step(self, observation: Any) -> Any:
        return await self.ask(1, "how?")

    async def receive(self, message: str, sender: int) -> Any:
        return type(self).how(self)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (lambda self: 1 / 0, "ZeroDivisionError"),
        (lambda self: sys.exit("bye"), "SystemExit: bye"),
        (lambda self: object(), "TypeError"),
        (lambda self: 2**80, "OverflowError"),
    ],
)
def test_an_answer_that_fails_is_told_to_who_asked(town: Build, how: Any, reason: str) -> None:
    asked = town(type("Failing", (Answerers,), {"how": how}), 2)
    asked.acted.add(1)
    asked.play(0)
    assert isinstance(asked.endings.errors[0], AskFailed)
    assert "agent 1 could not answer" in str(asked.endings.errors[0])
    assert reason in str(asked.endings.errors[0])


@pytest.mark.parametrize("message", [object(), 2**80, {(1, 2): object()}], ids=str)
def test_what_cannot_be_packed_cannot_be_sent(town: Build, message: object) -> None:
    class Sender(Agent):
        async def step(self, observation: Any) -> Any:
            return await self.ask(1, message)

    asked = town(Sender, 2)
    asked.play(0)
    assert isinstance(asked.endings.errors[0], TypeError | ValueError | OverflowError)


def test_an_agent_without_receive_says_so(town: Build) -> None:
    class Deaf(Agent):
        async def step(self, observation: Any) -> Any:
            return await self.ask(1, "hello?")

    asked = town(Deaf, 2)
    asked.acted.add(1)
    asked.play(0)
    assert "Deaf got a message but has no receive()" in str(asked.endings.errors[0])


def test_a_receive_that_is_no_coroutine_is_told_to_who_asked(town: Build) -> None:
    class Hasty(Agent):
        async def step(self, observation: Any) -> Any:
            return await self.ask(1, "hello?")

        def receive(self, message: Any, sender: int) -> Any:  # the author forgot "async"
            return 7

    asked = town(Hasty, 2)
    asked.acted.add(1)
    asked.play(0)
    assert isinstance(asked.endings.errors[0], AskFailed)
    assert "async" in str(asked.endings.errors[0])


class Bid(msgspec.Struct):
    amount: float


class Seller(Agent):
    """Decodes what it is asked to a struct."""

    async def step(self, observation: Any) -> Any:
        return await self.ask(1, observation or Bid(2.5))

    async def receive(self, message: Bid, sender: int) -> Bid:
        assert isinstance(message, Bid)
        return Bid(message.amount * 2)


def test_the_annotation_of_receive_is_what_messages_are_decoded_to(town: Build) -> None:
    asked = town(Seller, 2)
    asked.acted.add(1)
    asked.play(0)
    assert asked.endings.values == {0: {"amount": 5.0}}


def test_a_message_that_does_not_fit_the_annotation_fails_the_ask(town: Build) -> None:
    class Vague(Seller):
        async def step(self, observation: Any) -> Any:
            return await self.ask(1, "two and a half")

    asked = town(Vague, 2)
    asked.acted.add(1)
    asked.play(0)
    assert isinstance(asked.endings.errors[0], AskFailed)
    assert "object" in str(asked.endings.errors[0])


def test_an_annotation_that_cannot_be_resolved_fails_the_ask(town: Build) -> None:
    class Guarded(Agent):
        async def step(self, observation: Any) -> Any:
            return await self.ask(1, "hello")

        async def receive(self, message: "OnlyForTypeCheckers", sender: int) -> Any:  # type: ignore[name-defined] # noqa: F821
            return message

    asked = town(Guarded, 2)
    asked.acted.add(1)
    asked.play(0)
    assert isinstance(asked.endings.errors[0], AskFailed)
    assert "OnlyForTypeCheckers" in str(asked.endings.errors[0])


class Hub(Agent):
    """Everybody asks agent 0, which counts."""

    async def step(self, observation: Any) -> Any:
        self.heard = 0
        return None if self.id == 0 else await self.ask(0, self.id)

    async def receive(self, message: int, sender: int) -> int:
        self.heard += 1
        return message * 2


@pytest.mark.parametrize("hub_acts", ["first", "last"])
def test_a_hub_answers_ten_thousand(town: Build, hub_acts: str) -> None:
    asked = town(Hub, 10_001)
    others = range(1, asked.n)
    for agent_id in (0, *others) if hub_acts == "first" else (*others, 0):
        asked.act(agent_id)
    asked.carry()
    assert asked.endings.errors == {}
    assert asked.endings.values == {0: None} | {i: 2 * i for i in others}
    assert asked.agents[0].heard == 10_000  # type: ignore[attr-defined]


class Link(Agent):
    """Each asks the next before it answers."""

    async def step(self, observation: Any) -> Any:
        return await self.ask(1, 0) if self.id == 0 else None

    async def receive(self, message: int, sender: int) -> int:
        if self.id == self.world.members[-1]:
            return message
        answer: int = await self.ask(self.id + 1, message + 1)
        return answer


def test_a_chain_of_five_thousand_asks_is_no_deep_stack(town: Build) -> None:
    asked = town(Link, 5_001)
    asked.acted.update(range(1, asked.n))
    asked.play(0)
    assert asked.endings.errors == {}
    assert asked.endings.values == {0: 4_999}


def test_calls_made_while_answering_are_numbered_apart_from_those_of_the_step(town: Build) -> None:
    keys: list[int] = []

    class Numbered(Agent):
        async def step(self, observation: Any) -> Any:
            keys.append(take_key(self.world.mail._scheduler.running))
            if self.id == 0:
                return [await self.ask(1, n) for n in range(3)]
            return None

        async def receive(self, message: int, sender: int) -> int:
            keys.append(take_key(self.world.mail._scheduler.running))
            return message

    asked = town(Numbered, 2)
    asked.play(1, 0)
    mine = [unpack(key).call for key in keys if unpack(key).agent == 1]
    assert mine == [0, STEP_CALLS, STEP_CALLS + 1, STEP_CALLS + 2]
    assert len(set(keys)) == len(keys)
    assert asked.endings.values[0] == [0, 1, 2]


def test_keys_run_out_with_an_error_not_with_a_collision() -> None:
    activation = SimpleNamespace(key=pack(1, 0))
    keys = [take_key(activation) for _ in range(STEP_CALLS - 1)]
    with pytest.raises(TooManyCalls, match="2047 calls"):
        take_key(activation)
    with pytest.raises(TooManyCalls):
        take_key(activation)
    assert keys == [pack(1, 0, call) for call in range(STEP_CALLS - 1)]


def test_what_is_told_while_answering_counts_for_who_asked() -> None:
    class Forwarder(Agent):
        async def step(self, observation: Any) -> Any:
            return await self.ask(2, "pass it on")

        async def receive(self, message: str, sender: int) -> None:
            self.tell(4, message)
            self.tell(0, message)

    asked = Town(Forwarder, 6, 3)
    asked.acted.update(range(1, 6))
    asked.play(0)
    assert asked.sent == {2: 1, 0: 1}, "the coordinator learns of both from the round of the one who asked"
    assert asked.inbox(4) == asked.inbox(0) == [(2, "pass it on")]


def test_a_late_answer_is_dropped(town: Build) -> None:
    class Impatient(Agent):
        async def step(self, observation: Any) -> Any:
            if self.id == 1:
                return None
            try:
                await self.ask(1, "quick!")
            except NoAnswer:
                return "gave up"

        async def receive(self, message: str, sender: int) -> str:
            return "too late"

    asked = town(Impatient, 2)
    asked.play(0)
    expire(asked)
    asked.play(1)
    assert asked.endings.values == {0: "gave up", 1: None}


def test_a_question_of_a_later_round_waits_for_that_round() -> None:
    """A worker may begin a round before another one has heard of it."""
    asked = Town(Neighbours, 2, 2)
    asked.play(1)
    there = asked.offices[1]
    asked.round = 2
    asked.acted.clear()
    asked.act(0)
    asked.round = 1  # as seen by the other worker still
    asked.acted.add(1)
    asked.carry()
    there.mail.questions.idle(1)
    asked.carry()
    assert 0 not in asked.endings.values
    asked.round = 2
    asked.play(1)
    assert asked.endings.values[0] == [4, 0]

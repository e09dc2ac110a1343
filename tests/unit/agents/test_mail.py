"""Mail between agents on one worker and on two, which must come to the same."""

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from engine.agents.agent import Agent
from engine.agents.mail import AskFailed, Mail, Post
from engine.agents.model import STEP_CALLS, TooManyCalls, take_key
from engine.agents.scheduler import Activation, DeadlineExceeded, Scheduler
from engine.journal.recorder import Recorder
from engine.journal.transcripts import Transcripts
from engine.keys import pack, unpack
from tests.fakes.turns import Clock, Endings



class Office:
    """The agents and the mail of one worker."""

    def __init__(self, town: "Town", worker: int) -> None:
        self.scheduler = Scheduler(clock=Clock(), deadline_s=10, wake=lambda: None)
        self.mail = Mail(
            self.scheduler,
            Recorder(Transcripts.parse("all"), 1000),
            worker=worker,
            worker_of=town.worker_of,
            resident=town.resident,
        )


class Town:
    """`n` agents over the workers, all in group 0 unless `groups` says where the others begin."""

    def __init__(self, agent_type: type[Agent], n: int, workers: int, *, coupled: bool = False) -> None:
        self.n = n
        self.n_workers = workers
        self.stopped: set[int] = set()
        self.acted: set[int] = set()
        self.endings = Endings()
        self.offices = [Office(self, worker) for worker in range(workers)]
        self.scenario = SimpleNamespace(coupled=coupled, n_agents=n)
        self.members = range(n)
        self.agents = [agent_type(i) for i in range(n)]
        self.round = 1
        for agent in self.agents:
            agent.world = SimpleNamespace(  # type: ignore[assignment]
                mail=self.office(agent.id).mail,
                group=0,
                members=self.members,
                scenario=self.scenario,
                round=self.round,
            )

    def worker_of(self, agent_id: int) -> int:
        return agent_id * self.n_workers // self.n

    def office(self, agent_id: int) -> Office:
        return self.offices[self.worker_of(agent_id)]

    def resident(self, agent_id: int, round_: int) -> Agent | None:
        if agent_id in self.stopped:
            raise AskFailed(f"agent {agent_id} has stopped")
        acting = agent_id not in self.acted or agent_id in self.office(agent_id).scheduler.active
        return None if acting or round_ != self.round else self.agents[agent_id]

    def act(self, agent_id: int) -> None:
        """Begin the step of an agent."""
        agent, office = self.agents[agent_id], self.office(agent_id)
        agent.world.round = self.round
        town = self

        class Owner(Endings):
            """Says that the agent is free once its step is over, as a worker does."""

            def returned(self, activation: Activation, value: Any) -> None:
                town.endings.returned(activation, value)
                office.mail.idle(activation.agent.id)

            def raised(self, activation: Activation, error: BaseException) -> None:
                town.endings.raised(activation, error)
                office.mail.idle(activation.agent.id)

        owner = Owner()
        self.sent = owner.sent
        self.acted.add(agent_id)
        office.scheduler.begin(Activation(agent, agent.step(None), pack(self.round, agent_id), owner))

    def carry(self) -> None:
        """Move mail over the wire and run what is ready, until all is quiet."""
        busy = True
        while busy:
            busy = False
            for office in self.offices:
                while office.scheduler.has_ready:
                    busy = True
                    office.scheduler.run_ready()
                for there, post in list(office.mail.outgoing.items()):
                    busy = True
                    packed = msgspec.msgpack.encode(post)
                    self.offices[there].mail.take(msgspec.msgpack.decode(packed, type=Post))
                office.mail.outgoing.clear()

    def play(self, *agent_ids: int) -> None:
        """Let agents act, all of them if none is named, in this order."""
        for agent_id in agent_ids or range(self.n):
            self.act(agent_id)
            self.carry()

    def inbox(self, agent_id: int) -> list[tuple[int, Any]]:
        """Empty the inbox of an agent for the next round."""
        return self.office(agent_id).mail.inbox(self.agents[agent_id], self.round + 1)


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def town(request: pytest.FixtureRequest) -> Callable[..., Town]:
    def build(agent_type: type[Agent], n: int, **options: bool) -> Town:
        return Town(agent_type, n, request.param, **options)

    return build


Build = Callable[..., Town]


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


# asking


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


def test_who_asks_itself_waits_until_nothing_else_moves(town: Build) -> None:
    class Narcissus(Agent):
        async def step(self, observation: Any) -> Any:
            return await self.ask(self.id, "who is the fairest?")

        async def receive(self, message: str, sender: int) -> str:
            return "you"

    asked = town(Narcissus, 2)
    asked.play(0)
    expire(asked)
    assert isinstance(asked.endings.errors[0], DeadlineExceeded)


def expire(asked: Town) -> None:
    """Tell all workers that nothing moves any more."""
    for office in asked.offices:
        office.mail.give_up()
    asked.carry()


class Lovers(Agent):
    """Two that ask each other from their steps."""

    async def step(self, observation: Any) -> Any:
        return await self.ask(1 - self.id, "after you")

    async def receive(self, message: str, sender: int) -> str:
        return message


def test_two_that_ask_each_other_wait_until_nothing_else_moves(town: Build) -> None:
    asked = town(Lovers, 2)
    asked.play()
    assert asked.endings.n == 0
    expire(asked)
    assert isinstance(asked.endings.errors[0], DeadlineExceeded)
    assert "agent 1 did not answer" in str(asked.endings.errors[0])
    assert asked.endings.n == 2


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
            except DeadlineExceeded:
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
    there.mail.idle(1)
    asked.carry()
    assert 0 not in asked.endings.values
    asked.round = 2
    asked.play(1)
    assert asked.endings.values[0] == [4, 0]

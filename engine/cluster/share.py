"""The members of one group on one worker, and how far they are in their round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from traceback import format_exception
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.agents.agent import Agent
from engine.agents.births import Wish
from engine.agents.effects import AnswerFailed
from engine.agents.frozen import Frozen, declares_state, freeze, thaw
from engine.agents.mail import Mail
from engine.agents.post import AskFailed
from engine.agents.record import Record
from engine.agents.scheduler import Activation, DeadlineExceeded, Scheduler, TurnEnded
from engine.agents.world import World
from engine.cluster.slices import Codes
from engine.journal.history import DEADLINE
from engine.keys import pack
from engine.scenarios.scenario import Scenario

MAX_TRACEBACK_CHARS = 8000


class Cast(NamedTuple):
    """The worlds that members of a group act in, by slice, from a round on."""

    first_round: int
    worlds: Sequence[World]
    codes: Codes | None
    """Each member's slice; None if all are in the first."""

    def world_of(self, index: int) -> World:
        """Return the world of the index-th member."""
        return self.worlds[0] if self.codes is None else self.worlds[self.codes[index]]


class Share:
    """Starts the members' turns, one after the other, and collects what they return."""

    def __init__(
        self,
        members: range,
        casts: Sequence[Cast],
        *,
        scheduler: Scheduler,
        mail: Mail,
        record: Record,
        done: Callable[[Share], None],
        block: int = 0,
    ) -> None:
        """`block` is 0 for members that the run begins with; others are not there before they are born."""
        self.block = block
        self._counts = int(not block)  # those whom nobody could count on are not in what is shown as progress
        self.members = members
        self._cast, *self._later_casts = casts
        self.world = self._cast.worlds[0]
        self.group = self.world.group
        self._community = self.world.community
        self.sent: dict[int, int] = {}
        self.outstanding = 0
        self.wishes: list[Wish] = []
        """Children asked for in this round."""
        self.retiring: list[tuple[int, int]] = []
        """Who is to retire after this round, and who has said so."""
        self.values: list[Any] = []
        self.n_answered = 0
        self.n_excluded = 0
        self.n_ended = 0
        """Turns that have ended since the run began, failed ones included."""
        self.stopped: set[int] = set()
        """Ids of members that have failed and act no more."""
        self.last_rounds: dict[int, int] = {}
        """By agent: the round in which something else than its own code has stopped it."""
        self._scheduler = scheduler
        self._mail = mail
        self._questions = mail.questions
        self._record = record
        self._done = done
        self._agents: list[Agent | None] = [None] * len(members)
        self._observation: Any = None
        self._next = len(members)
        self._n_left = 0
        self._is_open = False
        self._was_told = False
        self._acts: NDArray[np.bool_] | None = None

    def begin(self, round_: int, observation: Any) -> None:
        """Open a round."""
        if self._later_casts and round_ >= self._later_casts[0].first_round:
            self._recast(self._later_casts.pop(0))
        for world in self._cast.worlds:
            world.round = round_
        self._mail.begin_round(self.group, round_)
        self._was_told = self._mail.has_told  # what is told from now on is heard in the next round
        self._observation = observation
        self._acts = None if self.block else self.world.scenario.acts(round_, self.members, observation)
        self.sent, self.wishes, self.retiring = {}, [], []
        self.values = [None] * len(self.members)
        self.n_answered = self.n_excluded = 0
        self._next = 0
        self._n_left = len(self.members)
        self._is_open = True
        if not self.born:
            self._next, self._n_left = len(self.members), 0

    @property
    def has_next(self) -> bool:
        """Whether some member has not been started in this round."""
        return self._next < len(self.members)

    def start_up_to(self, n: int) -> int:
        """Start the next members' turns, `n` at most; return how many."""
        if not self.born:
            for agent_id in self.members if self._questions.has_any else ():
                self._questions.idle(agent_id)
            self.settle()
        last = min(self._next + n, len(self.members))
        started = last - self._next
        while self._next < last:
            self._start(self._next)
        return started

    def _start(self, index: int) -> None:
        self._next = index + 1
        agent_id = self.members[index]
        round_ = self.world.round
        if self._acts is not None and not self._is_due(self._acts, index, agent_id):
            self._ended(agent_id)
            return
        if self._community is not None and self._community.absence(agent_id):
            self._left(agent_id)
            return
        if (self.stopped or self.last_rounds) and self._acts_no_more(agent_id, round_):
            self.stopped.add(agent_id)
            self._mail.refuse(agent_id, round_)
            self._ended(agent_id)
            return
        try:
            activation = self._activation(index, agent_id)
        except Exception as error:
            self._stop(agent_id, pack(round_, agent_id), error, "exception")
        else:
            self._scheduler.begin(activation)

    def _acts_no_more(self, agent_id: int, round_: int) -> bool:
        return agent_id in self.stopped or round_ > self.last_rounds.get(agent_id, round_)

    def _is_due(self, acts: NDArray[np.bool_], index: int, agent_id: int) -> bool:
        return bool(acts[index]) or self._mail.has_letters(agent_id, self.group, self.world.round - 1)

    def resident(self, agent_id: int, round_: int) -> Agent | None:
        """Return a member once its step of the round is over; None before. Raises AskFailed if never."""
        if agent_id in self.stopped:
            raise AskFailed(f"agent {agent_id} has stopped")
        if round_ < self.world.round:
            raise AskFailed(f"round {round_} is over")
        if round_ > self.world.round:  # nor is it known yet who will be there by then
            return None
        if self._community is not None and (absence := self._community.absence(agent_id)):
            raise AskFailed(absence)
        index = agent_id - self.members.start
        acting = index >= self._next or agent_id in self._scheduler.active
        return None if acting else self._made(index)

    def returned(self, activation: Activation, value: Any) -> None:
        """Take the value of a step."""
        agent_id = activation.agent.id
        problem = activation.agent.world.scenario.accept(value)
        if problem is not None:
            self._stop(
                agent_id,
                activation.key,
                TypeError(f"step() returned {_short(repr(value), 200)}: {problem}"),
                "wrong value",
            )
            return
        self.values[agent_id - self.members.start] = value
        self.n_answered += 1
        self._ended(agent_id)

    def raised(self, activation: Activation, error: BaseException) -> None:
        """Leave out, or stop, a member whose step raised."""
        if isinstance(error, AnswerFailed):
            self.n_excluded += 1
            self._ended(activation.agent.id)
        else:
            self._stop(activation.agent.id, activation.key, error, _kind(error))

    def settle(self) -> None:
        """End the round once all turns have ended and all that they have asked is answered."""
        if self._is_open and self._n_left == 0 and not self.outstanding:
            self._is_open = False
            self._done(self)

    @property
    def is_at_rest(self) -> bool:
        """Whether no member has a turn in flight."""
        return not any(agent_id in self.members for agent_id in self._scheduler.active)

    def freeze(self, agents: range) -> list[Frozen] | None:
        """Return some members as they are before a round, None if one's class does not declare its state.

        Raises SimtuiError.
        """
        found = []
        for agent_id in agents:
            if agent_id in self.stopped:
                found.append(Frozen(stopped=True))
                continue
            agent = self._made(agent_id - self.members.start)
            if not declares_state(agent):
                return None
            kept = freeze(agent, self._mail.waiting(agent, self.world.round))
            kept.topics = self._mail.topics(agent_id)
            found.append(kept)
        return found

    def thaw(self, round_: int, first: int, frozen: Sequence[Frozen]) -> None:
        """Make members as they were after a round, from agent `first` on. Raises SimtuiError."""
        for agent_id, kept in enumerate(frozen, first):
            if agent_id not in self.members:
                continue
            self.n_ended += round_
            if kept.stopped:
                self.stopped.add(agent_id)
                continue
            agent = self._enter(agent_id - self.members.start)
            thaw(kept, agent)
            self._mail.put_back(agent_id, round_, kept.inbox, kept.topics)

    def _made(self, index: int) -> Agent:
        """Return a member, who may have been told or asked something before it first acts."""
        agent = self._agents[index]
        return self._enter(index) if agent is None else agent

    def _enter(self, index: int) -> Agent:
        birth = self._community.births.get(self.members[index]) if self._community is not None else None
        world = self._cast.world_of(index) if birth is None else self._cast.worlds[birth.wish.slice]
        scenario: Scenario = world.scenario
        agent = scenario.agent(self.members[index]) if birth is None else scenario.newcomer(birth)
        agent.enter(world)
        self._agents[index] = agent
        return agent

    def _activation(self, index: int, agent_id: int) -> Activation:
        agent = self._made(index)
        inbox = self._mail.inbox(agent, self.world.round) if self._was_told else None
        coroutine = _with_inbox(agent, inbox, self._observation) if inbox else agent.step(self._observation)
        return Activation(agent, coroutine, pack(self.world.round, agent_id), self)

    def _recast(self, cast: Cast) -> None:
        """Put the agents into other worlds: from here on, the run is another one than its parent."""
        self._cast = cast
        self.world = cast.worlds[0]
        for index, agent in enumerate(self._agents):
            if agent is not None:
                agent.enter(cast.worlds[agent.world.slice] if self.block else cast.world_of(index))

    def _left(self, agent_id: int) -> None:
        """Skip one who is not there; what was told to it in its last round reaches nobody."""
        self._agents[agent_id - self.members.start] = None
        self._mail.refuse(agent_id, self.world.round)
        self._ended(agent_id)

    @property
    def born(self) -> range:
        """Those members that have been born: of newcomers the first ones, as places are taken in order."""
        if not self.block or self._community is None:
            return self.members
        next_ = self._community.places.start + len(self._community.births)
        return range(self.members.start, max(self.members.start, min(self.members.stop, next_)))

    def _stop(self, agent_id: int, key: int, error: BaseException, kind: str) -> None:
        self.stopped.add(agent_id)
        trace = "".join(format_exception(error))[-MAX_TRACEBACK_CHARS:]
        detail = f"{type(error).__name__}: {_short(str(error), 1000)}"
        self._record.failure(key, kind, detail, "agent stopped", trace)
        self._ended(agent_id)

    def _ended(self, agent_id: int) -> None:
        self._n_left -= 1
        self.n_ended += self._counts
        if self._questions.has_any:
            self._questions.idle(agent_id)
        self.settle()


async def _with_inbox(agent: Agent, inbox: list[tuple[int, Any]], observation: Any) -> Any:
    for sender, message in inbox:
        await agent.receive(message, sender)
    return await agent.step(observation)


def _kind(error: BaseException) -> str:
    """Return under what the ledger files an agent that an error has stopped."""
    if isinstance(error, TurnEnded):
        return error.kind
    return DEADLINE if isinstance(error, DeadlineExceeded) else "exception"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"

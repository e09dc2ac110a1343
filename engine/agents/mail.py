"""Messages between agents: told ones wait for the next round, asked ones for the end of the asked one's step.

Order never depends on timing where it matters: an inbox is sorted by sender, and what one sender tells keeps
its order. Messages are packed even when both agents share a worker, so that neither can change what the
other holds, and a run on one worker behaves as one on forty.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec

from engine.agents.answering import Answered, Answering, refusal
from engine.agents.calls import take_key
from engine.agents.post import Ask, AskFailed, NoAnswer, Post, Question, Reply, Tell
from engine.agents.record import Record
from engine.agents.scheduler import Activation, Scheduler
from engine.journal.history import NO_ANSWER, History
from engine.keys import CallKey, pack, unpack

if TYPE_CHECKING:
    from engine.agents.agent import Agent

_encode = msgspec.msgpack.Encoder().encode


class Mail:
    """The post office of one worker."""

    def __init__(
        self,
        scheduler: Scheduler,
        record: Record,
        *,
        worker: int,
        worker_of: Callable[[int], int],
        resident: Callable[[int, int], Agent | None],
    ) -> None:
        """`worker_of(agent)` says where an agent lives; `resident(agent, round)` returns it once its step of
        that round is over, None before, and raises AskFailed when it has stopped."""
        self._scheduler = scheduler
        self._record = record
        self.history: History | None = None
        """Which questions were answered, and in what order, as far as the run already has been."""
        self._worker = worker
        self._worker_of = worker_of
        self._resident = resident
        self._inboxes: dict[int, list[tuple[int, msgspec.Raw]]] = {}
        self._open: dict[int, Ask] = {}
        self._given_up: dict[int, Ask] = {}
        """Asks whose agents have gone on, and whose questions are answered all the same."""
        self._queues: dict[int, deque[tuple[int, Question]]] = {}
        self._draining: set[int] = set()
        self._answered: dict[int, Answered] = {}
        self._decoders: dict[type, msgspec.msgpack.Decoder[Any]] = {}
        self.outgoing: dict[int, Post] = defaultdict(_empty_post)
        self.arrived: Counter[tuple[int, int]] = Counter()
        """Messages from other workers, by (round, group) they were told in."""

    def tell(self, agent: Agent, receiver: int, message: Any) -> None:
        """Put a message into the receiver's next inbox. Raises ValueError for an agent of another group."""
        world = agent.world
        self._check(world, receiver)
        activation = self._scheduler.running
        assert activation is not None, "tell() is called from agents only"
        told = Tell(receiver, agent.id, world.round, activation.owner.group, msgspec.Raw(_encode(message)))
        self.send(told, activation.owner.sent)

    def send(self, told: Tell, sent: dict[int, int]) -> None:
        """Put a message into an inbox; one for another worker is counted in `sent`."""
        there = self._worker_of(told.receiver)
        if there == self._worker:
            self._keep(told)
        else:
            sent[there] = sent.get(there, 0) + 1
            self.outgoing[there].tells.append(told)

    def has_letters(self, receiver: int, round_: int) -> bool:
        """Tell whether something was told in a round."""
        return pack(round_, receiver) in self._inboxes

    def letters(self, receiver: int, round_: int) -> list[tuple[int, msgspec.Raw]]:
        """Return (sender, message) of all that was told in a round, by sender, and forget it."""
        return sorted(self._inboxes.pop(pack(round_, receiver), ()), key=lambda entry: entry[0])

    def inbox(self, agent: Agent, round_: int) -> list[tuple[int, Any]]:
        """Return (sender, message) of all that was told to an agent in the round before, and forget it."""
        found = self.letters(agent.id, round_ - 1)
        if not found:
            return []
        decoder = self._decoder(type(agent))
        messages = [(sender, decoder.decode(message)) for sender, message in found]
        for turn, (sender, message) in enumerate(messages):
            self._record.told(sender, CallKey(round_, agent.id, turn), message)
        return messages

    def waiting(self, agent_id: int, round_: int) -> list[tuple[int, msgspec.Raw]]:
        """Return (sender, packed message) of all that was told to an agent in a round; it stays there."""
        return self._inboxes.get(pack(round_, agent_id), [])

    def put_back(self, agent_id: int, round_: int, inbox: list[tuple[int, msgspec.Raw]]) -> None:
        """Fill an inbox as it was."""
        if inbox:
            self._inboxes[pack(round_, agent_id)] = [
                (sender, msgspec.Raw(bytes(message))) for sender, message in inbox
            ]

    @property
    def has_told(self) -> bool:
        """Whether any inbox holds something."""
        return bool(self._inboxes)

    def ask(self, ask: Ask) -> None:
        """Send a question. Raises ValueError for an agent of another group."""
        activation = ask.activation
        self._check(activation.agent.world, ask.receiver)
        ask.key = take_key(activation)
        given_up = self.history.given_up.get(ask.key) if self.history is not None else None
        if given_up is None:
            self._open[ask.key] = ask
        else:
            self._give_up(ask, given_up)
        question = Question(ask.key, ask.receiver, activation.owner.group, msgspec.Raw(_encode(ask.message)))
        there = self._worker_of(ask.receiver)
        if there == self._worker:
            self._scheduler.soon(partial(self._queue, self._worker, question))
        else:
            self.outgoing[there].questions.append((self._worker, question))

    def take(self, post: Post) -> None:
        """Receive the mail of another worker."""
        for told in post.tells:
            self.arrived[told.round, told.group] += 1
            self._keep(told)
        for origin, question in post.questions:
            self._queue(origin, question)
        for reply in post.replies:
            self._settle(reply)

    def idle(self, agent_id: int) -> None:
        """Let an agent that has just become free answer the questions that wait for it, one at a time."""
        if agent_id in self._draining:  # it became free within this very loop: a hub answers 100,000 in a row
            return
        self._draining.add(agent_id)
        while agent_id not in self._scheduler.active and (queue := self._queues.get(agent_id)):
            index = self._whose_turn(agent_id, queue)
            if index is None or not self._answer(*queue[index]):
                break
            del queue[index]
            if not queue:
                del self._queues[agent_id]
        self._draining.discard(agent_id)

    @property
    def has_questions(self) -> bool:
        """Whether some question waits for an agent to become free."""
        return bool(self._queues)

    def give_up(self) -> None:
        """Raise NoAnswer in all agents that wait for an answer, because none will come any more."""
        waiting, self._open = self._open, {}
        for ask in waiting.values():
            self._give_up(ask, f"agent {ask.receiver} did not answer, and nothing else in the run moved")

    def reply(self, origin: int, reply: Reply) -> None:
        """Send an answer back to the worker that the question came from."""
        if origin == self._worker:
            self._settle(reply)
        else:
            self.outgoing[origin].replies.append(reply)

    def _check(self, world: Any, receiver: int) -> None:
        community = world.community
        if community is not None and (absence := community.absence(receiver)):
            raise ValueError(absence)
        if receiver in world.members or (community is not None and receiver in community.places):
            return
        n_ids = world.scenario.n_agents if community is None else community.n_ids
        if not (world.scenario.coupled and 0 <= receiver < n_ids):
            raise ValueError(
                f"agent {receiver} is not in group {world.group}, nor does the scenario couple its groups"
            )

    def _keep(self, told: Tell) -> None:
        key = pack(told.round, told.receiver)
        inbox = self._inboxes.get(key)
        if inbox is None:
            inbox = self._inboxes[key] = []
        inbox.append((told.sender, told.message))

    def _queue(self, origin: int, question: Question) -> None:
        self._queues.setdefault(question.receiver, deque()).append((origin, question))
        self.idle(question.receiver)

    def _give_up(self, ask: Ask, text: str) -> None:
        self._given_up[ask.key] = ask
        ask.activation.owner.outstanding += 1
        self._record.failure(ask.key, NO_ANSWER, text, "told the agent")
        self._scheduler.later(ask, None, NoAnswer(text))

    def _whose_turn(self, agent_id: int, queue: deque[tuple[int, Question]]) -> int | None:
        """Return the question to answer next: the first to come, or in a repeated round the one of then.

        None if that one has yet to come. One who has stopped turns all down, in any order.
        """
        round_ = unpack(queue[0][1].key).round
        turns = self.history.turns(round_, agent_id) if self.history is not None else []
        n = self._answered_in(agent_id, round_).n_questions
        if n >= len(turns) or self._has_stopped(agent_id, round_):
            return 0
        return next((i for i, (_, question) in enumerate(queue) if question.key == turns[n]), None)

    def _has_stopped(self, agent_id: int, round_: int) -> bool:
        try:
            self._resident(agent_id, round_)
        except AskFailed:
            return True
        return False

    def _answered_in(self, agent_id: int, round_: int) -> Answered:
        answered = self._answered.get(agent_id)
        if answered is None or answered.round < round_:
            answered = self._answered[agent_id] = Answered(round_)
        return answered if answered.round == round_ else Answered(round_)

    def _answer(self, origin: int, question: Question) -> bool:
        """Let the asked agent handle a question; False if its own step has yet to come."""
        round_, sender, _ = unpack(question.key)
        owner = Answering(self, origin, question, self._answered_in(question.receiver, round_))
        try:
            agent = self._resident(question.receiver, round_)
            if agent is None:
                return False
            owner.message = self._decoder(type(agent)).decode(question.message)
            activation = Activation(agent, agent.receive(owner.message, sender), owner.first_key, owner)
        except AskFailed as error:
            self.reply(origin, Reply(question.key, msgspec.Raw(_encode(None)), str(error)))
        except Exception as error:
            self.ended(owner, None, refusal(question.receiver, error))
        else:
            self._scheduler.begin(activation)
            if self._scheduler.active.get(agent.id) is activation:
                # Now: what it calls from here on is filed under the place of this turn.
                self._record.asked(question.key, owner.place, owner.message)
        return True

    def ended(self, owner: Answering, answer: Any, error: str | None) -> None:
        """Record an answer, send it, and let the agent go on to the next question."""
        self._record.answered(owner.question.key, owner.place, owner.message, answer, error)
        owner.answered.n_questions += 1
        owner.release(Reply(owner.question.key, msgspec.Raw(_encode(answer)), error, owner.sent))
        self.idle(owner.question.receiver)

    def _settle(self, reply: Reply) -> None:
        """Take an answer; one that nobody waits for any more has still been waited for by the round."""
        ask = self._open.pop(reply.key, None) or self._given_up[reply.key]
        owner = ask.activation.owner
        for worker, n in reply.sent.items():
            owner.sent[worker] = owner.sent.get(worker, 0) + n
        if self._given_up.pop(reply.key, None) is not None:
            owner.outstanding -= 1
            owner.settle()
            return
        error = AskFailed(reply.error) if reply.error is not None else None
        self._scheduler.later(ask, msgspec.msgpack.decode(reply.message), error)

    def _decoder(self, agent_type: type[Agent]) -> msgspec.msgpack.Decoder[Any]:
        decoder = self._decoders.get(agent_type)
        if decoder is None:
            hints = get_type_hints(agent_type.receive)
            decoder = self._decoders[agent_type] = msgspec.msgpack.Decoder(hints.get("message", Any))
        return decoder


def _empty_post() -> Post:
    return Post([], [], [], [], [])

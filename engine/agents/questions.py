"""Questions between agents: asked from a step or an answer, and answered once the asked one is free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from engine.agents.answering import Answered, Answering, refusal
from engine.agents.calls import take_key
from engine.agents.credits import Credits
from engine.agents.decoders import decoder_of
from engine.agents.outgoing import Outgoing
from engine.agents.post import Ask, AskFailed, NoAnswer, Post, Probe, Question, Reply
from engine.agents.reach import check_reach
from engine.agents.record import Record
from engine.agents.scheduler import Activation, Scheduler
from engine.agents.waits import Waits, named
from engine.journal.history import NO_ANSWER, History
from engine.keys import unpack

if TYPE_CHECKING:
    from engine.agents.agent import Agent

_encode = msgspec.msgpack.Encoder().encode


class Questions:
    """Those that agents of one worker ask, and are asked."""

    def __init__(
        self,
        scheduler: Scheduler,
        record: Record,
        outgoing: Outgoing,
        *,
        worker: int,
        worker_of: Callable[[int], int],
        resident: Callable[[int, int], Agent | None],
        credit: int,
    ) -> None:
        """`worker_of(agent)` says where an agent lives; `resident(agent, round)` returns it once its step of
        that round is over, None before, and raises AskFailed when it has stopped. `credit` questions to one
        agent on another worker may be unanswered."""
        self._scheduler = scheduler
        self._record = record
        self._outgoing = outgoing
        self.history: History | None = None
        """Which questions were answered, and in what order, as far as the run already has been."""
        self._worker = worker
        self._worker_of = worker_of
        self._resident = resident
        self._credits: Credits[Question] = Credits(credit)
        self._waits = Waits(worker=worker, worker_of=worker_of, probe=self._send_probe, found=self._break)
        self._open: dict[int, Ask] = {}
        self._given_up: dict[int, Ask] = {}
        """Asks whose agents have gone on, and whose questions are answered all the same."""
        self._queues: dict[int, deque[tuple[int, Question]]] = {}
        self._draining: set[int] = set()
        self._answered: dict[int, Answered] = {}

    def ask(self, ask: Ask) -> None:
        """Send a question. Raises ValueError for an agent of another group."""
        activation = ask.activation
        check_reach(activation.agent.world, ask.receiver)
        question = Question(0, ask.receiver, activation.owner.group, _encode(ask.message))
        ask.key = question.key = take_key(activation)
        given_up = self.history.given_up.get(ask.key) if self.history is not None else None
        if given_up is None:
            self._open[ask.key] = ask
            self._waits.add(ask.key, ask.receiver)
        else:
            self._give_up(ask, given_up)
        there = self._worker_of(ask.receiver)
        if there == self._worker:
            self._scheduler.soon(partial(self._queue, self._worker, question))
        elif self._credits.take(ask.receiver, question, at_once=self._is_repeated(question)):
            self._outgoing.to(there).questions.append(question)
        else:
            self._waits.hold(question.key, question.receiver)

    def _is_repeated(self, question: Question) -> bool:
        """Tell whether a question was asked before: the one that is asked may have to take it up first."""
        return self.history is not None and unpack(question.key).round <= self.history.last_round

    def _give_credit(self, receiver: int) -> None:
        """Send the next question to an agent of another worker, now that one is answered."""
        following = self._credits.give_back(receiver)
        if following is not None:
            self._waits.release(following.key)
            self._outgoing.to(self._worker_of(receiver)).questions.append(following)

    def take(self, post: Post) -> None:
        """Receive what another worker has sent of questions."""
        for cycle in post.cycles:
            self._break(cycle)
        for question in post.questions:
            self._waits.came(question.key, question.receiver)
            self._queue(post.origin, question)
        for reply in post.replies:
            self._give_credit(self._settle(reply).receiver)
        for probe in post.probes:
            self._waits.take(probe)

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
    def has_any(self) -> bool:
        """Whether some question waits for an agent to become free."""
        return bool(self._queues)

    def give_up(self) -> None:
        """Raise NoAnswer in all agents that wait for an answer, because none will come any more."""
        waiting, self._open = self._open, {}
        for ask in waiting.values():
            self._waits.remove(ask.key)
            self._give_up(ask, f"agent {ask.receiver} did not answer, and nothing else in the run moved")

    def reply(self, origin: int, reply: Reply) -> None:
        """Send an answer back to the worker that the question came from."""
        if origin == self._worker:
            self._settle(reply)
        else:
            self._outgoing.to(origin).replies.append(reply)

    def _send_probe(self, worker: int, probe: Probe) -> None:
        self._outgoing.to(worker).probes.append(probe)

    def _break(self, path: list[int]) -> None:
        """Raise NoAnswer in those of a cycle that are here, but tell the other workers first.

        Otherwise one there might hear before that from one here, or from somebody between, who has gone on.
        """
        if not any(key in self._open for key in path):
            return
        for worker in {self._worker_of(unpack(key).agent) for key in path} - {self._worker}:
            self._outgoing.to(worker).cycles.append(path)
        for place, key in enumerate(path):
            ask = self._open.pop(key, None)
            if ask is not None:
                self._waits.remove(key)
                self._give_up(ask, f"{named(path, place)}: all wait for each other")

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
            owner.message = decoder_of(type(agent)).decode(question.message)
            activation = Activation(agent, agent.receive(owner.message, sender), owner.first_key, owner)
        except AskFailed as error:
            self._waits.answered(question.key)
            self.reply(origin, Reply(question.key, _encode(None), str(error)))
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
        self._waits.answered(owner.question.key)
        owner.release(Reply(owner.question.key, _encode(answer), error, owner.sent))
        self.idle(owner.question.receiver)

    def _settle(self, reply: Reply) -> Ask:
        """Take an answer and return what was asked.

        One that nobody waits for any more has still been waited for by the round.
        """
        ask = self._open.pop(reply.key, None) or self._given_up[reply.key]
        self._waits.remove(reply.key)
        owner = ask.activation.owner
        for worker, n in reply.sent.items():
            owner.sent[worker] = owner.sent.get(worker, 0) + n
        if self._given_up.pop(reply.key, None) is not None:
            owner.outstanding -= 1
            owner.settle()
            return ask
        error = AskFailed(reply.error) if reply.error is not None else None
        self._scheduler.later(ask, msgspec.msgpack.decode(reply.message), error)
        return ask

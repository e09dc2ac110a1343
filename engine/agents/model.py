"""The agents' side of a model: requests out of calls, values out of replies, and what becomes of bad ones."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from engine.agents.calls import Last, ModelCall, TooManyCalls, take_key
from engine.agents.divergence import DIVERGED, Beyond, Diverged
from engine.agents.effects import AnswerFailed
from engine.agents.memories.managed import Draft
from engine.agents.memory import Prompt
from engine.agents.record import OnFailure, Record
from engine.agents.replies import Asked, parsed, read_reply, restored, with_complaint
from engine.agents.requests import Requests
from engine.errors import SimtuiError
from engine.journal.history import History, Past
from engine.keys import unpack
from engine.models.answers import Problem, Text, Unreadable
from engine.models.protocol import Result, Sampling, prompt_id
from engine.models.spent import Spent

if TYPE_CHECKING:
    from engine.agents.scheduler import Scheduler

_FREE_TEXT = Text()
_NOT_THE_REPLY = frozenset((Problem.TIMED_OUT, Problem.SERVER, Problem.CONTEXT))
"""Problems that quoting to the model would not mend."""


TAKEN = "taken"
"""What the ledger says was done about a reply that has a value all the same."""


class Model:
    """One model as the agents of one worker see it."""

    def __init__(
        self,
        scheduler: Scheduler,
        record: Record,
        *,
        number: int,
        sampling: Sampling,
        policy: OnFailure,
        wants_facts: bool = False,
        beyond: Beyond = Beyond.ASK,
    ) -> None:
        """`beyond` says what happens with a call that the journal does not have."""
        self._scheduler = scheduler
        self._record = record
        self._number = number
        self._policy = policy
        self._keeps_last = policy.on_failure == "last"
        self._wants_facts = wants_facts
        self._beyond = beyond
        self.history: History | None = None
        """Replies that the run already has, and that are not asked for again."""
        self._open: dict[int, ModelCall] = {}
        self.requests = Requests(record, sampling)
        """What waits to be sent."""
        self._last: dict[tuple[int, int], Last] = {}
        self.spent: defaultdict[int, Spent] = defaultdict(Spent)
        """What replies have cost, by slice of the population."""

    def chat(self, prompt: Prompt, answer: Asked = _FREE_TEXT, *, facts: Any = None) -> ModelCall:
        """Ask the model to continue a conversation and await its answer.

        `answer` says what counts as one (`Number`, `Choice`, `Text`, `Json`, `List`). `facts` is the same
        situation as data, for rule-based policies; it is not sent to language models. Raises AnswerFailed
        when no try gave an acceptable answer and the preset says to exclude.
        """
        wanted = facts if self._wants_facts else None
        if prompt.__class__ is Draft:
            return prompt.call(self, answer, wanted)
        return ModelCall(self, prompt, answer, wanted)

    @property
    def n_open(self) -> int:
        """Requests that wait for a reply."""
        return len(self._open)

    def submit(self, call: ModelCall) -> None:
        """Turn a call into a request. Raises TooManyCalls."""
        self.requests.file(call)
        self._place(call)
        tail = call.encoded_tail()
        call.prompt_id = prompt_id(call.prefix, tail)
        past = self.history.get(call.key) if self.history is not None else None
        if past is not None:
            self._repeat(call, past)
        elif self._beyond is not Beyond.ASK or (self.history is not None and self._should_be_known(call)):
            self._diverge(call)
        else:
            self.requests.add(call.request(tail))
            self._open[call.key] = call

    def _place(self, call: ModelCall) -> None:
        """Give a call its key; in a gather room for all its tries, as others are asked again in any order."""
        if call.tries == 0:
            call.key = take_key(call.activation, 1 if call.gather is None else 1 + self._policy.retries)
            call.slice = call.activation.agent.world.slice
            if self._keeps_last:
                call.last = self._last.get((call.activation.agent.id, call.form))
        elif call.gather is None:
            call.key = take_key(call.activation)
        else:
            call.key += 1

    def _should_be_known(self, call: ModelCall) -> bool:
        """Tell whether a round that is over lacks a call: it has come to other calls than these."""
        return self.history is not None and unpack(call.key).round <= self.history.finished

    def again(self) -> None:
        """Queue every open request once more, for a service that has lost them."""
        self.requests.again(self._open.values())

    def take(self, results: list[Result]) -> None:
        """Hand replies to the agents that wait for them; a reply nobody waits for is dropped."""
        for result in results:
            call = self._open.pop(result.key, None)
            if call is None:
                continue
            self.spent[call.slice].add(result)
            if result.resent:
                self._record.failure(call.key, Problem.RESENT, f"{result.resent} times", TAKEN)
            try:
                value, remark, detail = read_reply(call.answer, result)
            except Unreadable as unreadable:
                self._record.reply(call, result, self._number, None, unreadable.problem)
                self._retry_or_give_up(call, result.text, unreadable)
                continue
            self._record.reply(call, result, self._number, value, remark)
            if remark is not None:
                self._record.failure(call.key, remark, detail, TAKEN)
            self._give(call, value)

    def _give(self, call: ModelCall, value: Any) -> None:
        if self._keeps_last:
            self._note_last(call, value)
        self._scheduler.complete(call, value)

    def _note_last(self, call: ModelCall, value: Any) -> None:
        """Keep the answer to the last call, not the answer that comes last."""
        place = call.activation.agent.id, call.form
        if place not in self._last or self._last[place].key < call.key:
            self._last[place] = Last(call.key, value)

    def _repeat(self, call: ModelCall, past: Past) -> None:
        """Take a reply from the journal in place of the model's."""
        if past.prompt != call.prompt_id:
            self._diverge(call)
            if self._beyond is not Beyond.REPORT:
                return
        if self._beyond is Beyond.REPORT:
            reply = Result(call.key, past.text or "")
            self._record.reply(call, reply, self._number, past.value, past.problem)
        if past.value is not None:
            value = restored(call.answer, past.value)
            if past.problem is not None:
                self._record.failure(call.key, past.problem, past.detail or "", TAKEN)
            self._scheduler.soon(partial(self._give, call, value))
        else:
            reason = Unreadable(Problem(str(past.problem)), past.detail or "")
            self._retry_or_give_up(call, past.text or "", reason)

    def _diverge(self, call: ModelCall) -> None:
        """A call is not the one that the journal has, or not in it at all."""
        if self._beyond is not Beyond.REPORT:
            self._scheduler.fatal = Diverged(unpack(call.key))
            return
        self._record.failure(call.key, DIVERGED, msgspec.json.encode(call.prompt.tail).decode(), "reported")
        if self.history is None or self.history.get(call.key) is None:
            self._scheduler.later(call, None, AnswerFailed("the journal has no reply to this call"))

    def _retry_or_give_up(self, call: ModelCall, reply: str, reason: Unreadable) -> None:
        again = call.tries < self._policy.retries and reason.problem is not Problem.CONTEXT
        action = "asked again" if again else call.on_failure or self._policy.on_failure
        self._record.failure(call.key, reason.problem, reason.detail, action)
        if not again:
            self._give_up(call, reason)
            return
        call.tries += 1
        if reason.problem not in _NOT_THE_REPLY:
            call.prompt = with_complaint(call.prompt, reply, reason.detail)
        try:
            self.submit(call)
        except TooManyCalls as error:
            self._scheduler.fail(call, error)

    def _give_up(self, call: ModelCall, reason: Unreadable) -> None:
        match call.on_failure or self._policy.on_failure:
            case "fallback":
                self._fall_back(call)
            case "last" if call.last is not None:
                self._scheduler.later(call, call.last.value)
            case "fail":
                self._scheduler.fatal = SimtuiError(
                    f"the model gave no acceptable answer ({reason.problem}: {reason.detail})",
                    where=f"agent {call.activation.agent.id}, round {unpack(call.key).round}",
                    hint='answers.on_failure = "fail" stops the run here; "exclude" would go on without it',
                )
            case _:
                self._scheduler.later(call, None, AnswerFailed(f"{reason.problem}: {reason.detail}"))

    def _fall_back(self, call: ModelCall) -> None:
        try:
            self._scheduler.later(call, parsed(call.answer, str(self._policy.fallback)))
        except Unreadable as unreadable:
            self._scheduler.fatal = SimtuiError(
                f"{self._policy.fallback!r} is not an answer to what was asked: {unreadable.detail}",
                where="answers.fallback",
                hint='give a value that the scenario can take, or set answers.on_failure = "exclude"',
            )

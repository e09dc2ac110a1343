"""The worker's end of the journal: collects what has to be recorded until the worker sends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from engine.journal.batch import JournalBatch, SnapshotRow
from engine.journal.storable import Turn, json_text, named, storable_messages, storable_text, storable_value
from engine.journal.transcripts import Transcripts
from engine.keys import CALL_BITS, MAX_AGENTS, unpack

QUOTED_CHARS = 1100
"""Of a reply without a value so much is kept in any case: the agent quoted the first 1000 characters when it
asked again, and does so when the run is repeated."""


class Asked(Protocol):
    """The request that a reply answers."""

    key: int
    prefix: int
    form: int
    prompt_id: int
    """The id of the whole prompt; those above are of its leading messages and of what counts as an answer."""
    slice: int
    """The slice of the population that asks; 0 for none."""

    @property
    def tail(self) -> Sequence[Turn]:
        """The messages after the prefix."""


class Replied(Protocol):
    """What the model service returned."""

    text: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    queued_s: float
    busy_s: float
    samples: int
    logprob: float | None

    @property
    def finish(self) -> str:
        """Why it ended."""


class Recorder:
    """Collects rows. `transcripts` says whose texts are kept, `max_chars` how much of each."""

    def __init__(self, transcripts: Transcripts, max_chars: int) -> None:
        self._transcripts = transcripts
        self._keeps_all = transcripts.keeps_all
        self._max_chars = max_chars
        self._known: set[int] = set()
        self._batch = JournalBatch()
        self._calls: dict[tuple[int, str, int, int], tuple[int, list[Any]]] = {}
        self.n_calls = 0
        """Calls of environments that wait to be sent, many to a row."""

    def __len__(self) -> int:
        """Return how many rows wait to be sent."""
        return len(self._batch) + len(self._calls)

    def reply(self, request: Asked, result: Replied, model: int, value: Any, problem: str | None) -> None:
        """Record a reply of a model, by its number; `value` is the answer read, if any."""
        key = request.key
        # The text of a reply without a value is what a repetition of the run needs to go the same way.
        kept = (
            self._keeps_all
            or problem is not None
            or self._transcripts.keeps(key >> CALL_BITS & (MAX_AGENTS - 1))
        )
        row = (
            key,
            model,
            request.prompt_id,
            request.prefix,
            request.form,
            storable_value(value),
            result.tokens_in,
            result.tokens_out,
            result.tokens_cached,
            result.queued_s,
            result.busy_s,
            request.slice,
            storable_text(result.text, self._text_chars(value)) if kept else None,
            storable_messages(request.tail, self._max_chars) if kept else None,
        )
        finish, samples, logprob = result.finish, result.samples, result.logprob
        if problem is None and finish == "stop" and samples == 1 and logprob is None:
            self._batch.plain.append(row)
        else:
            self._batch.replies.append((*row, problem, finish, samples, logprob))

    def _text_chars(self, value: Any) -> int:
        return self._max_chars if value is not None else max(self._max_chars, QUOTED_CHARS)

    def failure(self, key: int, kind: str, detail: str, action: str, traceback: str | None = None) -> None:
        """Record a failed reply, or a failed agent under the key of the call it would have made next."""
        shown = None if traceback is None else storable_text(traceback, self._max_chars)
        self._batch.failures.append((key, kind, storable_text(detail), shown, action))

    def told(self, round_: int, receiver: int, messages: Sequence[tuple[int, Any]]) -> None:
        """Record all that an agent is told, by sender and in order, if its transcript is kept.

        Nothing depends on it: whoever told it does so again when the run is repeated.
        """
        if not self._transcripts.keeps(receiver):
            return
        rows = self._batch.messages
        for turn, (sender, message) in enumerate(messages):
            text = storable_text(json_text(message), self._max_chars)
            rows.append((None, "tell", round_, receiver, turn, sender, text, None, None))

    def asked(self, key: int, place: tuple[int, int], message: Any) -> None:
        """Record that a question is taken up; `place` is (receiver, place among those of the round).

        Questions come in the order of their arrival, so the place is what a repetition of the run keeps to.
        """
        self._question(key, place, message, None, None)

    def answered(
        self, key: int, place: tuple[int, int], message: Any, answer: Any, error: str | None
    ) -> None:
        """Record a question with its answer, or with why there is none."""
        self._question(key, place, message, json_text(answer) if error is None else None, error)

    def _question(
        self, key: int, place: tuple[int, int], message: Any, answer: str | None, error: str | None
    ) -> None:
        receiver, turn = place
        round_, sender, _ = unpack(key)
        texts = [json_text(message), answer] if self._transcripts.keeps(receiver) else [None, None]
        told, said, why = (None if x is None else storable_text(x, self._max_chars) for x in (*texts, error))
        self._batch.messages.append((key, "ask", round_, receiver, turn, sender, told, said, why))

    def called(self, place: tuple[int, str, int, int], first: int, call: Sequence[Any]) -> None:
        """Record a call of an environment: (key, caller, method, arguments, value, error).

        `place` is (number, name, group, round) of the environment, `first` how many calls were there before.
        All are kept, whatever the transcripts: the environment is rebuilt from them.
        """
        found = self._calls.get(place)
        if found is None:
            found = self._calls[place] = (first, [])
        found[1].append(call)
        self.n_calls += 1

    def prefix(self, prefix_id: int, messages: Sequence[Turn]) -> None:
        """Make a prefix known; again costs nothing."""
        if prefix_id not in self._known:
            self._known.add(prefix_id)
            self._batch.prefixes.append((prefix_id, storable_messages(messages, self._max_chars)))

    def form(self, form_id: int, form: msgspec.Struct) -> None:
        """Make a form known; again costs nothing."""
        if form_id not in self._known:
            self._known.add(form_id)
            self._batch.forms.append((form_id, json_text(named(form))))

    def snapshot(self, row: SnapshotRow) -> None:
        """Record some agents as they are between two rounds."""
        self._batch.snapshots.append(row)

    def take(self) -> JournalBatch:
        """Return what has been collected and start anew."""
        batch, self._batch = self._batch, JournalBatch()
        for place, (first, calls) in self._calls.items():
            batch.calls.append((*place, first, len(calls), json_text(calls)))
        self._calls, self.n_calls = {}, 0
        return batch

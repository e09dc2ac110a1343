"""The life of one agent in a run: what it was told and asked, what it said, and what went wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from engine.journal.reader import Reader
from engine.journal.storable import Value
from engine.keys import MAX_CALLS, PERSONAS, pack, unpack

Turns = list[tuple[str, str]]
"""(role, content) of messages."""


class Failure(msgspec.Struct, frozen=True):
    """A reply without an answer, or the end of the agent itself."""

    call: int
    kind: str
    detail: str | None
    traceback: str | None
    action: str | None


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A question to the model and its reply; texts are None where transcripts were not kept."""

    call: int
    model: str
    prefix: Turns | None
    """The messages that many prompts begin with."""
    messages: Turns | None
    """The rest of the prompt."""
    text: str | None
    value: Value
    problem: str | None
    finish: str
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    queued_s: float | None
    busy_s: float | None
    failures: list[Failure]

    @property
    def prompt(self) -> Turns | None:
        """What the model saw, if it was kept."""
        return None if self.messages is None else (self.prefix or []) + self.messages


class Mail(msgspec.Struct, frozen=True):
    """A message that the agent got or sent; a told one is handled in the round after it was sent."""

    kind: str
    """"tell" or "ask"."""
    sender: int
    receiver: int
    message: str | None
    """JSON, like the answer."""
    answer: str | None
    error: str | None


class Chapter(msgspec.Struct, frozen=True):
    """A round of the agent's life."""

    round: int
    """0: a model wrote its persona."""
    calls: list[Call]
    mail: list[Mail]
    failures: list[Failure]
    """Those that belong to no call: the agent's code raised, took too long or returned a wrong value."""


_CALLS = """
SELECT call, models.name, prefixes.messages, replies.messages, text, value, problem, finish,
  tokens_in, tokens_out, tokens_cached, queued_s, busy_s
FROM replies LEFT JOIN prefixes ON prefixes.id = replies.prefix LEFT JOIN models ON models.id = replies.model
WHERE key BETWEEN ? AND ? ORDER BY key"""
_FAILURES = """
SELECT call, kind, detail, traceback, action FROM failures WHERE key BETWEEN ? AND ? ORDER BY key"""
_MAIL = """
SELECT round, kind, sender, receiver, message, answer, error FROM messages
WHERE ? IN (receiver, sender) ORDER BY round, kind DESC, receiver, turn"""
_LAST_KEYS = "SELECT max(key) FROM replies UNION ALL SELECT max(key) FROM failures"
_AS_TURNS = msgspec.json.Decoder(Turns)


_Part = TypeVar("_Part", Failure, Mail)


def story(file: Reader, agent: int, only: int | None = None) -> Iterator[Chapter]:
    """Yield the rounds in which something happened to an agent, or `only` that one. Raises JournalError."""
    mail = _mail(file, agent)
    for round_ in range(PERSONAS, _last_round(file) + 1) if only is None else (only,):
        first, last = pack(round_, agent), pack(round_, agent, MAX_CALLS - 1)
        failures = [_part(file, Failure, row) for row in file.rows(_FAILURES, first, last)]
        calls = [_call(file, row, failures) for row in file.rows(_CALLS, first, last)]
        known = {call.call for call in calls}
        others = [failure for failure in failures if failure.call not in known]
        if calls or others or mail[round_]:
            yield Chapter(round_, calls, mail[round_], others)


def _part(file: Reader, kind: type[_Part], row: Sequence[object]) -> _Part:
    with file.reading():
        return msgspec.convert(dict(zip(kind.__struct_fields__, row, strict=True)), kind)


def _call(file: Reader, row: Sequence[object], failures: list[Failure]) -> Call:
    fields = dict(zip(Call.__struct_fields__, row, strict=False))
    with file.reading():
        for name in ("prefix", "messages"):
            fields[name] = _AS_TURNS.decode(str(fields[name])) if fields[name] is not None else None
        fields["model"] = fields["model"] or "unknown"
        fields["failures"] = [failure for failure in failures if failure.call == fields["call"]]
        return msgspec.convert(fields, Call)


def _mail(file: Reader, agent: int) -> dict[int, list[Mail]]:
    found: dict[int, list[Mail]] = defaultdict(list)
    for round_, *rest in file.rows(_MAIL, agent):
        found[round_].append(_part(file, Mail, rest))
    return found


def _last_round(file: Reader) -> int:
    return max(unpack(key or 0).round for (key,) in file.rows(_LAST_KEYS))

"""Whether every value is what its reply says, and every prompt what was sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from engine.agents.replies import read_reply
from engine.journal.storable import Value, storable_value
from engine.keys import PERSONAS, unpack
from engine.models.answers import Answer, JsonSchema, Problem, Unreadable
from engine.models.protocol import Finish, Result, content_id, prompt_id
from engine.verify.check import Check, Subject

_CUT = re.compile(r" \[\.\.\. cut: \d+ characters\]\Z")
_ROWS = "SELECT key, form, value, problem, finish, text, prefix, prompt, messages FROM replies"
_TURNS = msgspec.json.Decoder(list[tuple[str, str]])
_CACHED = 50_000
"""Readings held: short answers to the same form repeat."""

Expected = tuple[Value, str | None]
"""Value and problem that a text gives."""


def shared_parts(subject: Subject) -> Iterator[Check]:
    """The ids of prefixes and forms are hashes of their content."""
    check = Check("prefixes and forms are what they were")
    for number, text in subject.file.rows("SELECT id, messages FROM prefixes"):
        with subject.file.reading():
            turns = _TURNS.decode(str(text))
        if any(_CUT.search(content) for _, content in turns):
            check.unchecked.append(f"prefix {number} was cut")
        else:
            check.add(None if content_id(turns) == number else f"prefix {number} has another content")
    for number, text in subject.file.rows("SELECT id, form FROM forms"):
        with subject.file.reading():
            same = content_id(_as_sent(text)) == number
        check.add(None if same else f"form {number} has another content")
    yield check


def replies(subject: Subject) -> Iterator[Check]:
    """Each value is read from its text once more, and each prompt's hash computed once more."""
    values, prompts = Check("values are what the replies say"), Check("prompts are what was sent")
    reader = _Reader(subject)
    n_without, n_cut = 0, 0
    for part in subject.file.stream(_ROWS):
        for key, form, value, problem, finish, text, prefix, prompt, messages in part:
            if unpack(key).round == PERSONAS:
                pass  # judged by rules that the preset has, and no answer
            elif text is None or messages is None:
                n_without += 1
                values.add(_unread(key, reader.form(form), value, problem))
            elif _CUT.search(text):
                n_cut += 1
            else:
                values.add(_compare(key, value, problem, *reader.read(form, finish, text)))
            if messages is not None and not _is_cut(messages):
                same = _prompt_id(prefix, messages) == prompt
                prompts.add(None if same else f"{_place(key)}: the prompt's hash is another")
    if n_without:
        values.unchecked.append(f"{n_without:,} replies whose texts were not kept")
        prompts.unchecked.append(f"{n_without:,} prompts that were not kept")
    if n_cut:
        values.unchecked.append(f"{n_cut:,} replies whose texts were cut")
    if reader.has_json:
        values.unchecked.append("JSON objects were compared with their text, not with the scenario's struct")
    yield from (values, prompts)


class _Reader:
    """Reads replies as the run did."""

    def __init__(self, subject: Subject) -> None:
        self._forms: dict[int, Answer] = {}
        with subject.file.reading():
            for number, text in subject.file.rows("SELECT id, form FROM forms"):
                answer, _ = _as_sent(text)
                self._forms[number] = msgspec.convert(answer, Answer)
        self.has_json = any(isinstance(form, JsonSchema) for form in self._forms.values())
        self._expected = lru_cache(_CACHED)(self._read)

    def form(self, number: int) -> Answer | None:
        """Return what was asked for."""
        return self._forms.get(number)

    def read(self, form: int, finish: str, text: str) -> tuple[Answer | None, Expected | None]:
        """Return what was asked for and what the text says; None if that is unknown."""
        return self._forms.get(form), self._expected(form, finish, text)

    def _read(self, form: int, finish: str, text: str) -> Expected | None:
        answer = self._forms.get(form)
        if answer is None or finish not in {each.value for each in Finish}:
            return None
        try:
            value, remark, _ = read_reply(answer, Result(0, text, Finish(finish)))
        except Unreadable as unreadable:
            return None, unreadable.problem
        return storable_value(value), remark


def _compare(
    key: int, value: Value, problem: str | None, answer: Answer | None, expected: Expected | None
) -> str | None:
    if expected is None:
        return f"{_place(key)}: the form of the answer, or how the reply ended, is unknown"
    if isinstance(answer, JsonSchema):
        return None if value is None or _covers(value, expected[0]) else f"{_place(key)}: another object"
    # That messages were left out of the prompt is a remark that the text does not show.
    if value == expected[0] and problem in (expected[1], Problem.CONTEXT):
        return None
    return f"{_place(key)}: the text gives {_shown(*expected)}, the file has {_shown(value, problem)}"


def _unread(key: int, answer: Answer | None, value: Value, problem: str | None) -> str | None:
    """Tell what is wrong with a reply without its text."""
    if value is None and problem is None and not isinstance(answer, JsonSchema):
        return f"{_place(key)}: neither a value nor a reason why there is none"
    return None


def _covers(stored: Value, text: Value) -> bool:
    """Tell whether an object has what the reply says; a struct adds defaults and leaves out what it lacks."""
    try:
        return _agree(msgspec.json.decode(str(stored)), msgspec.json.decode(str(text)))
    except msgspec.DecodeError:
        return False


def _agree(stored: Any, said: Any) -> bool:
    if isinstance(stored, dict) and isinstance(said, dict):
        return all(_agree(stored[name], said[name]) for name in stored.keys() & said.keys())
    if isinstance(stored, list) and isinstance(said, list):
        return len(stored) == len(said) and all(map(_agree, stored, said))
    return bool(stored == said)


def _as_sent(form: str) -> list[Any]:
    """Return a form as the arrays in which it travels; the run file names the fields."""
    parts = msgspec.json.decode(form, type=dict[str, dict[str, Any]])
    return [list(parts["answer"].values()), list(parts["sampling"].values())]


def _prompt_id(prefix: int, messages: str) -> int | None:
    """Return the id that a prompt had."""
    try:
        return prompt_id(prefix, msgspec.msgpack.encode(_TURNS.decode(messages)))
    except msgspec.DecodeError:
        return None


def _is_cut(messages: str) -> bool:
    """Tell whether a text in the messages was cut; ` [... cut: ` is what to look for before decoding."""
    return " [... cut: " in messages and any(_CUT.search(content) for _, content in _TURNS.decode(messages))


def _shown(value: Value, problem: str | None) -> str:
    text = "no value" if value is None else repr(value)[:60]
    return f"{text} ({problem})" if problem else text


def _place(key: int) -> str:
    round_, agent, call = unpack(key)
    return f"round {round_}, agent {agent}, call {call}"

"""What a worker records arrives in the coordinator as rows in the order of the columns."""

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from engine.journal.batch import REPLY_COLUMNS, JournalBatch
from engine.journal.recorder import Recorder
from engine.journal.transcripts import Transcripts
from engine.keys import pack
from engine.models.answers import Number
from engine.models.protocol import Finish, Form, Message, Result, Sampling
from tests.fakes.journal import replies_of


@dataclass
class Call:
    """A request, as the journal sees it."""

    key: int
    prefix: int = 5
    form: int = 6
    prompt_id: int = 99
    slice: int = 2
    tail: tuple[Message, ...] = field(default=(Message("user", "Name a number."),))


def recorder(transcripts: str = "all", max_chars: int = 100) -> Recorder:
    return Recorder(Transcripts.parse(transcripts), max_chars)


def sent(batch: JournalBatch) -> JournalBatch:
    """Send a batch over the wire."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(batch), type=JournalBatch)


def recorded(
    agent: int = 3, transcripts: str = "all", value: float | None = 33.0, **result: Any
) -> dict[str, Any]:
    journal = recorder(transcripts)
    key = pack(2, agent, 1)
    result = {
        "text": "33",
        "tokens_in": 9,
        "tokens_out": 2,
        "tokens_cached": 4,
        "queued_s": 0.5,
        "busy_s": 1.5,
    } | result
    journal.reply(Call(key), Result(key, **result), 1, value, None)
    (row,) = replies_of(sent(journal.take()))
    return dict(zip(REPLY_COLUMNS, row, strict=True))


def test_a_reply_becomes_a_row() -> None:
    assert recorded() == {
        "key": pack(2, 3, 1),
        "model": 1,
        "prompt": 99,
        "prefix": 5,
        "form": 6,
        "value": 33.0,
        "problem": None,
        "finish": "stop",
        "tokens_in": 9,
        "tokens_out": 2,
        "tokens_cached": 4,
        "queued_s": 0.5,
        "busy_s": 1.5,
        "slice": 2,
        "samples": 1,
        "logprob": None,
        "text": "33",
        "messages": '[["user","Name a number."]]',
    }


def test_outside_the_sample_only_the_texts_are_missing() -> None:
    row = recorded(transcripts="none")
    assert (row["text"], row["messages"]) == (None, None)
    assert (row["value"], row["prompt"], row["tokens_in"]) == (33.0, 99, 9)


def test_the_sample_goes_by_agent() -> None:
    kept = [agent for agent in range(60) if recorded(agent, "1 in 10")["text"]]
    assert kept == [agent for agent in range(60) if Transcripts.parse("1 in 10").keeps(agent)]


@pytest.mark.parametrize(("value", "length"), [(33.0, 100), (None, 1100)])
def test_of_a_reply_without_a_value_enough_is_kept_to_be_quoted(value: float | None, length: int) -> None:
    assert len(recorded(text="x" * 5000, value=value)["text"]) == length


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\ud800", "a\0b", ""])
def test_hostile_text_crosses_the_wire(text: str) -> None:
    row = recorded(text=text, finish=Finish.LENGTH)
    assert row["finish"] == "length"
    assert len(row["text"]) <= 100


def test_a_failure_becomes_a_row() -> None:
    journal = recorder()
    journal.failure(pack(1, 2), "agent error", "boom \ud800", "stopped", "Traceback " + "x" * 1000)
    ((key, kind, detail, traceback, action),) = sent(journal.take()).failures
    assert (key, kind, detail, action) == (pack(1, 2), "agent error", "boom ?", "stopped")
    assert traceback is not None
    assert traceback.endswith("[... cut: 1010 characters]")


def test_what_is_shared_is_sent_once() -> None:
    journal = recorder()
    for _ in range(2):
        journal.prefix(5, (Message("system", "rules"),))
        journal.form(6, Form(Number(0, 100), Sampling()))
    batch = sent(journal.take())
    assert batch.prefixes == [(5, '[["system","rules"]]')]
    ((form_id, form),) = batch.forms
    assert (form_id, json.loads(form)["answer"]["high"]) == (6, 100)
    journal.prefix(5, (Message("system", "rules"),))
    assert journal.take() == JournalBatch()


def test_taking_starts_anew() -> None:
    journal = recorder()
    journal.failure(1, "kind", "detail", "action")
    assert len(journal) == 1
    journal.take()
    assert len(journal) == 0
    assert journal.take() == JournalBatch()


@pytest.mark.parametrize("key", [-1, 2**63, "1"])
def test_a_row_that_sqlite_cannot_hold_is_refused_on_arrival(key: Any) -> None:
    packed = msgspec.msgpack.encode([[], [(key, "kind", "detail", None, "action")]])
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(packed, type=JournalBatch)

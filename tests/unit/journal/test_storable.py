"""Whatever a model writes can be stored, and comes back as it was wherever that is possible."""

import json
import math
import sqlite3
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.journal.storable import json_text, named, storable_messages, storable_text, storable_value
from engine.models.answers import Number
from engine.models.protocol import Form, Message, Sampling

ANY_TEXT = st.text(st.characters(codec=None))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=10,
)


def stored(value: Any) -> Any:
    """Send a value through SQLite."""
    return sqlite3.connect(":memory:").execute("SELECT ?", (value,)).fetchone()[0]


@given(ANY_TEXT)
def test_any_text_can_be_stored(text: str) -> None:
    kept = stored(storable_text(text))
    assert kept == text.encode(errors="replace").decode()


@given(ANY_TEXT.filter(lambda text: text.isascii() or text.encode(errors="ignore").decode() == text))
def test_valid_text_comes_back_as_it_was(text: str) -> None:
    assert stored(storable_text(text, 100_000)) == text


@given(st.text(min_size=1, max_size=300), st.integers(100, 200))
def test_long_text_is_cut_and_marked(text: str, limit: int) -> None:
    kept = storable_text(text, limit)
    assert len(kept) <= limit
    assert kept == text or kept.endswith(f" [... cut: {len(text)} characters]")


def test_a_megabyte_is_cut_to_the_limit() -> None:
    kept = storable_text("é" * 1_000_000, 65_536)
    assert len(kept) == 65_536
    assert kept.endswith("[... cut: 1000000 characters]")


def test_nul_is_kept() -> None:
    assert stored(storable_text("a\0b")) == "a\0b"


@given(st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), ANY_TEXT)))
def test_messages_are_json_of_role_and_content(messages: list[Message]) -> None:
    expected = [[turn.role, turn.content.encode(errors="replace").decode()] for turn in messages]
    assert json.loads(stored(storable_messages(messages))) == expected


def test_each_message_is_cut_by_itself() -> None:
    kept = json.loads(storable_messages([Message("user", "x" * 200), Message("user", "short")], 100))
    assert len(kept[0][1]) == 100
    assert kept[1] == ["user", "short"]


class Mood(msgspec.Struct):
    word: str
    strength: float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (33.5, 33.5),
        (33, 33),
        (True, 1),
        (2**64, str(2**64)),
        (-(2**63), -(2**63)),
        (math.inf, "inf"),
        ("yes", "yes"),
        ("\ud800", "?"),
        (Mood("calm", 0.5), '{"word":"calm","strength":0.5}'),
        ([1, "b"], '[1,"b"]'),
    ],
)
def test_values_keep_their_type_where_sqlite_has_it(value: Any, expected: Any) -> None:
    kept = stored(storable_value(value))
    assert kept == expected
    assert type(kept) is type(expected)


def test_nan_is_told_from_a_missing_value() -> None:
    """SQLite turns NaN into NULL."""
    assert stored(storable_value(math.nan)) == "nan"


@given(JSON)
def test_any_decoded_json_can_be_stored(value: Any) -> None:
    stored(storable_value(value))


def test_json_of_a_surrogate_is_escaped() -> None:
    assert json.loads(json_text({"a": "\ud800"})) == {"a": "\ud800"}


def test_a_form_reads_by_name() -> None:
    form = named(Form(Number(0, 100), Sampling(temperature=0.5)))
    assert form["answer"] == {"type": "Number", "low": 0, "high": 100, "decimals": 0, "reasoning": 0}
    assert form["sampling"]["temperature"] == 0.5

"""What a model or an agent wrote, in a form that the run file can hold: whatever it is, it fits."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec


class Turn(Protocol):
    """One message of a conversation, a struct whose JSON is [role, content]."""

    @property
    def role(self) -> str:
        """Who speaks."""

    @property
    def content(self) -> str:
        """What is said."""


_encode = msgspec.json.Encoder(enc_hook=str).encode

Value = float | int | str | None
"""What the column `value` can hold."""


def storable_text(text: str, max_chars: int | None = None) -> str:
    """Return a text that is valid UTF-8 and, if `max_chars` (at least 100) is given, no longer than that.

    A longer one ends in a mark that names its length. Half a surrogate pair, which UTF-8 cannot express,
    becomes "?".
    """
    if max_chars is not None and len(text) > max_chars:
        mark = f" [... cut: {len(text)} characters]"
        text = text[: max_chars - len(mark)] + mark
    return text if text.isascii() else text.encode(errors="replace").decode()


def storable_messages(messages: Sequence[Turn], max_chars: int | None = None) -> str:
    """Return messages as JSON [[role, content], ...], each content treated as in `storable_text`."""
    try:
        text = _encode(messages).decode()
    except UnicodeEncodeError:
        text = None
    if text is not None and (max_chars is None or len(text) <= max_chars):
        return text  # no content can be longer; looking at each of them takes twice to three times as long
    return json_text([(turn.role, storable_text(turn.content, max_chars)) for turn in messages])


def storable_value(value: Any) -> Value:
    """Return a parsed answer as a number if it is one, as text, or as JSON text of anything else.

    Numbers that SQLite has no form for (NaN, infinities, integers beyond 64 bits) become text.
    """
    if value is None:
        return None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else str(value)
    return storable_text(value if isinstance(value, str) else json_text(value))


def json_text(value: Any) -> str:
    """Return JSON of anything; what JSON has no form for is put as `str` puts it."""
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:  # half a surrogate pair, which ASCII JSON can escape
        return json.dumps(msgspec.to_builtins(value, enc_hook=str))


def named(struct: msgspec.Struct) -> dict[str, Any]:
    """Return a struct as a dict by name of field, for readers; array-like structs encode to bare lists."""
    fields = {
        name: named(value) if isinstance(value, msgspec.Struct) else value
        for name, value in msgspec.structs.asdict(struct).items()
    }
    tag = struct.__struct_config__.tag
    return {"type": tag, **fields} if tag else fields

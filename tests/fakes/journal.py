"""Rows for journal tests."""

from __future__ import annotations

from typing import Any

from engine.journal.batch import REPLY_COLUMNS, FailureRow, JournalBatch, ReplyRow
from engine.journal.rounds import Round
from engine.keys import pack

PREFIX, FORM = 77, 78

_REPLY = dict.fromkeys(REPLY_COLUMNS) | {
    "model": 1,
    "prefix": PREFIX,
    "form": FORM,
    "finish": "stop",
    "tokens_in": 10,
    "tokens_out": 2,
    "tokens_cached": 8,
    "queued_s": 0.25,
    "busy_s": 0.5,
    "slice": 0,
    "samples": 1,
}

_ENDED: dict[str, Any] = {
    "n_answered": 9,
    "n_excluded": 1,
    "n_failed": 0,
    "stats": {"mean": 40.5, "winner": "7"},
    "histogram": [1, 3],
    "low": 0.0,
    "high": 100.0,
    "started": 1e9,
    "seconds": 2.0,
}


def reply(round_: int, agent: int, call: int = 0, **columns: Any) -> ReplyRow:
    """Return the row of a reply."""
    row = _REPLY | {"key": pack(round_, agent, call), "prompt": agent} | columns
    return tuple(row.values())  # type: ignore[return-value]


def replies_of(batch: JournalBatch) -> list[ReplyRow]:
    """Return all replies of a batch, plain ones with the columns that they travel without."""
    return [*batch.replies, *((*row, None, "stop", 1, None) for row in batch.plain)]


def failure(round_: int, agent: int, kind: str = "unparsed", action: str = "asked again") -> FailureRow:
    """Return the row of a failure."""
    return (pack(round_, agent), kind, "reply with one number", None, action)


def ended(round_: int, **columns: Any) -> Round:
    """Return the end of a round over all groups."""
    return Round(round=round_, **(_ENDED | columns))

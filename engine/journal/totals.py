"""What the replies of a run file add up to, kept in `meta`, for who lists many runs cannot read them all."""

from __future__ import annotations

import sqlite3

import msgspec

KEY = "usage"
"""The key in `meta`."""


class Total(msgspec.Struct, array_like=True):
    """The replies of one model; tokens of those from the answer cache do not count."""

    model: int
    replies: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0


class Totals(msgspec.Struct, array_like=True):
    """The replies of all models up to a row; rows are numbered as they come and never deleted."""

    row: int = 0
    models: list[Total] = []


_KNOWN = "SELECT value FROM meta WHERE key = ?"
_SUM = """
SELECT coalesce(model, 0), count(*), total(tokens_in * (samples > 0)), total(tokens_out * (samples > 0)),
  total(tokens_cached * (samples > 0))
FROM replies WHERE rowid > ? GROUP BY model"""


def read_totals(connection: sqlite3.Connection) -> Totals:
    """Return the totals as of the last commit; of a file without them, those of no replies.

    Raises msgspec.DecodeError.
    """
    found = connection.execute(_KNOWN, (KEY,)).fetchone()
    return msgspec.json.decode(str(found[0]), type=Totals) if found else Totals()


def update_totals(connection: sqlite3.Connection) -> None:
    """Add the replies that the totals do not hold yet; to be called in the transaction that brings them."""
    totals = read_totals(connection)
    (last,) = connection.execute("SELECT coalesce(max(rowid), 0) FROM replies").fetchone()
    if last == totals.row:
        return
    if last < totals.row:  # copied from a run with more replies
        totals = Totals()
    by_model = {total.model: total for total in totals.models}
    for model, *sums in connection.execute(_SUM, (totals.row,)):
        total = by_model.setdefault(model, Total(model))
        for name, value in zip(Total.__struct_fields__[1:], sums, strict=True):
            setattr(total, name, getattr(total, name) + int(value))
    text = msgspec.json.encode(Totals(last, list(by_model.values()))).decode()
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (KEY, text))

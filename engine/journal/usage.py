"""What the models of a run were used for, from its totals alone."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from engine.journal.run_file import RunFile
from engine.journal.totals import Total, read_totals

_MODELS = "SELECT id, name, price_in, price_out, price_cached, coalesce(currency, '') FROM models"


class Usage(msgspec.Struct, frozen=True):
    """What a model was used for in the whole run."""

    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float | None
    currency: str


class _Model(NamedTuple):
    name: str
    price_in: float | None = None
    """Of a million tokens, like the others."""
    price_out: float | None = None
    price_cached: float | None = None
    currency: str = ""


def read_usage(file: RunFile) -> list[Usage]:
    """Return the use of each model; none of a file without totals. Raises JournalError."""
    with file.reading():
        totals = file.read(read_totals)
        models = {number: msgspec.convert(row, _Model) for number, *row in file.rows(_MODELS)}
        return [_used(total, models.get(total.model, _Model("unknown"))) for total in totals.models]


def _used(total: Total, model: _Model) -> Usage:
    used = (model.name, total.replies, total.tokens_in, total.tokens_out, total.tokens_cached)
    if model.price_in is None or model.price_out is None or model.price_cached is None:
        return Usage(*used, cost=None, currency="")
    new = total.tokens_in - total.tokens_cached
    cost = (
        new * model.price_in + total.tokens_cached * model.price_cached + total.tokens_out * model.price_out
    )
    return Usage(*used, cost=cost / 1e6, currency=model.currency)

"""What the models of a run were used for, as a table and in a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.table import Table

from app import figures
from app.columns import Columns, tables
from app.sanitise import clean
from engine.cluster.control import Usage

NAME_CHARS = 24


def usage_tables(usage: Sequence[Usage], seconds: float, width: int) -> list[Table]:
    """Return the table of `columns`, in several parts if it is too wide."""
    others = columns(usage, seconds)
    names: Columns = {name: others.pop(name) for name in ("model", "slice") if name in others}
    return tables(names, others, width)


def columns(usage: Sequence[Usage], seconds: float) -> Columns:
    """Return the cells of a table, by heading; with a last row for all if there are several.

    `seconds` is how long the rounds took. Slices and costs have a column if there are any.
    """
    rows = [*usage, _sum("all", "", usage)] if len(usage) > 1 else list(usage)
    table = {"model": [clean(row.model, NAME_CHARS) for row in rows]}
    if any(row.slice for row in rows):
        table["slice"] = [clean(row.slice, NAME_CHARS) for row in rows]
    table["calls"] = [f"{row.calls:,}" for row in rows]
    table["tokens in"] = [f"{row.tokens_in:,}" for row in rows]
    table["cached"] = [figures.percent(row.tokens_cached, row.tokens_in) for row in rows]
    table["tokens out"] = [f"{row.tokens_out:,}" for row in rows]
    if seconds > 0:
        table["out a second"] = [figures.number(round(row.tokens_out / seconds, 1)) for row in rows]
    if any(row.cost is not None for row in rows):
        table["cost"] = ["-" if row.cost is None else figures.money(row.cost, row.currency) for row in rows]
        table["cost"][-1] = cost(usage)
    return table


def cost(usage: Sequence[Usage]) -> str:
    """Return what all of it cost, in each currency; empty if nothing has a price."""
    sums: Counter[str] = Counter()
    for used in usage:
        if used.cost is not None:
            sums[used.currency] += used.cost  # type: ignore[assignment]  # counters add up floats, too
    return " + ".join(figures.money(value, currency) for currency, value in sums.items())


def in_all(usage: Iterable[Usage]) -> list[Usage]:
    """Return the sums by model and slice."""
    parts: dict[tuple[str, str], list[Usage]] = {}
    for used in usage:
        parts.setdefault((used.model, used.slice), []).append(used)
    return [_sum(model, slice_, part) for (model, slice_), part in parts.items()]


def _sum(model: str, slice_: str, part: Sequence[Usage]) -> Usage:
    costs = [used.cost for used in part if used.cost is not None]
    return Usage(
        model,
        slice_,
        sum(used.calls for used in part),
        sum(used.tokens_in for used in part),
        sum(used.tokens_out for used in part),
        sum(used.tokens_cached for used in part),
        sum(costs) if costs else None,
        next((used.currency for used in part if used.currency), ""),
    )

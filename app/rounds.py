"""The rounds of a run as lines while it goes and as tables when it is over."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from app import figures
from app.sanitise import clean
from engine.cluster.control import RoundReport, TimeSplit


def row(report: RoundReport, rounds: int | None = None) -> list[str]:
    """Return a finished round in name and value pairs, so that a line in a log explains itself."""
    number = f"{report.round:,}/{rounds:,}" if rounds else f"{report.round:,}"
    pairs = [f"round {number}", f"answered {report.n_answered:,}"]
    pairs += [f"{clean(name, 24)} {figures.number(value)}" for name, value in report.outcome.stats.items()]
    return [*pairs, figures.seconds(report.seconds)]


def split(report: RoundReport) -> list[str]:
    """Return where the round's time went."""
    names = ("model", "agents", "messages", "idle", "journal")
    return [f"{name} {figures.seconds(s)}" for name, s in zip(names, _spent(report.split), strict=True)]


def cpu(report: RoundReport) -> str:
    """Return what the round cost in processor time."""
    each_us = 1e6 * report.cpu_s / max(1, report.n_agents)
    return f"cpu {figures.seconds(report.cpu_s)}, {each_us:,.0f} us an agent step"


def flow(parts: Sequence[str], width: int) -> list[str]:
    """Lay parts out two spaces apart; lines break between parts only, and all but the first are indented."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]}  {part}"
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(f"  {part}")
    return lines


def results_table(reports: Sequence[RoundReport]) -> Table:
    """Return the table of rounds; which columns it has is the scenario's choice."""
    names = list(dict.fromkeys(name for report in reports for name in report.outcome.stats))
    table = _table("round", "answered", *names, "seconds")
    for report in reports:
        values = (figures.number(report.outcome.stats.get(name)) for name in names)
        _add(table, f"{report.round:,}", f"{report.n_answered:,}", *values, f"{report.seconds:,.2f}")
    return table


def time_table(reports: Sequence[RoundReport]) -> Table:
    """Return the table of where each round's time went, in seconds."""
    table = _table("round", "seconds", "model", "agents", "messages", "idle", "journal", "cpu")
    for report in reports:
        spent = (report.seconds, *_spent(report.split), report.cpu_s)
        _add(table, f"{report.round:,}", *(f"{s:,.2f}" for s in spent))
    return table


def _spent(split: TimeSplit) -> tuple[float, ...]:
    return split.model_s, split.agents_s, split.messages_s, split.idle_s, split.journal_s


def _add(table: Table, *cells: str) -> None:
    table.add_row(*map(Text, cells))


def _table(*columns: str) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1), header_style="bold", show_edge=False
    )
    for column in columns:
        table.add_column(Text(clean(column, 24)), justify="right", overflow="fold")
    return table

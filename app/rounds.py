"""The rounds of a run as lines while it goes and as tables when it is over."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from app import figures
from app.columns import NAME_CHARS, Columns, tables
from app.sanitise import clean
from engine.cluster.control import RoundReport, TimeSplit

TEXT_CHARS = 48


def row(report: RoundReport, rounds: int | None = None) -> list[str]:
    """Return a finished round in name and value pairs, so that a line in a log explains itself."""
    number = f"{report.round:,}/{rounds:,}" if rounds else f"{report.round:,}"
    pairs = [f"round {number}", f"answered {report.n_answered:,}"]
    pairs += [
        f"{clean(name, NAME_CHARS)} {figures.number(value)}" for name, value in report.outcome.stats.items()
    ]
    return [*pairs, figures.seconds(report.seconds)]


def split(report: RoundReport) -> list[str]:
    """Return where the round's time went."""
    names = ("model", "agents", "messages", "idle", "journal")
    return [f"{name} {figures.seconds(s)}" for name, s in zip(names, _spent(report.split), strict=True)]


def cpu(report: RoundReport) -> str:
    """Return what the round cost in processor time."""
    each_us = 1e6 * report.cpu_s / max(1, report.n_agents)
    return f"cpu {figures.seconds(report.cpu_s)}, {each_us:,.0f} us an agent step"


def size(n_agents: int, n_rounds: int) -> str:
    """Return how large a run is: "100 agents, 1 round"."""
    return f"{figures.plural(n_agents, 'agent')}, {figures.plural(n_rounds, 'round')}"


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


def results_tables(reports: Sequence[RoundReport], width: int) -> list[Table]:
    """Return the table of rounds, in several parts if its columns do not fit side by side.

    Which columns there are is the scenario's choice. Those that hold text come last.
    """
    return tables({"round": [f"{report.round:,}" for report in reports]}, _results(reports), width)


def unaffected_tables(reports: Sequence[RoundReport], width: int) -> list[Table]:
    """Return the results of the rounds that have affected agents, without them."""
    affected = [report for report in reports if report.unaffected is not None]
    names = {name: None for report in affected for name in report.unaffected or {}}
    columns = {"affected": [f"{report.n_affected:,}" for report in affected]}
    columns |= {name: [figures.number((r.unaffected or {}).get(name)) for r in affected] for name in names}
    numbers = [f"{report.round:,}" for report in affected]
    return tables({"round": numbers}, columns, width)


def time_tables(reports: Sequence[RoundReport], width: int) -> list[Table]:
    """Return the table of where each round's time went, in seconds, in several parts if it is too wide."""
    names = ("seconds", "model", "agents", "messages", "idle", "journal", "cpu")
    spent = [(report.seconds, *_spent(report.split), report.cpu_s) for report in reports]
    columns = {name: [f"{row[i]:,.2f}" for row in spent] for i, name in enumerate(names)}
    return tables({"round": [f"{report.round:,}" for report in reports]}, columns, width)


def _spent(split: TimeSplit) -> tuple[float, ...]:
    return split.model_s, split.agents_s, split.messages_s, split.idle_s, split.journal_s


def _results(reports: Sequence[RoundReport]) -> Columns:
    stats = [report.outcome.stats for report in reports]
    names = dict.fromkeys(name for one in stats for name in one)
    texts = [name for name in names if any(isinstance(one.get(name), str) for one in stats)]
    columns = {"answered": [f"{report.n_answered:,}" for report in reports]}
    columns |= {name: [figures.number(one.get(name)) for one in stats] for name in names if name not in texts}
    columns["seconds"] = [f"{report.seconds:,.2f}" for report in reports]
    return columns | {name: [figures.number(one.get(name), TEXT_CHARS) for one in stats] for name in texts}

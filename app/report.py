"""What is printed when a run is over: rounds, where the time went, answers, failures, where it lies."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.text import Text

from app import figures, people_summary, picture, rounds, usage
from app.left_out import left_out
from app.record import Record
from app.sanitise import clean
from engine.agents.memories.calls import LEFT_OUT
from engine.cluster.accounts import AGENT_FAILURES
from engine.cluster.control import Finished
from engine.errors import SimtuiError


def print_report(console: Console, record: Record, *, blocks: bool) -> None:
    """Print everything that a run has to show; of a run without rounds, only where it lies."""
    if record.reports:
        console.print()
        _section(console, "Rounds", *rounds.results_tables(record.reports, console.width))
        if any(report.unaffected is not None for report in record.reports):
            _section(
                console,
                "Without the agents with a repaired, failed or missing reply in the round",
                *rounds.unaffected_tables(record.reports, console.width),
            )
        _section(
            console,
            "Seconds, by what they went to (journal: beside the rest)",
            *rounds.time_tables(record.reports, console.width),
        )
    if drawn := picture.picture(record.reports, min(console.width, 120), blocks=blocks):
        _section(console, "Answers", Text("\n".join(drawn), no_wrap=True, overflow="crop"))
    if any(used.tokens_in or used.tokens_out for used in record.usage):
        seconds = sum(report.seconds for report in record.reports)
        if record.people and record.people.writing:
            seconds += record.people.writing.seconds
        _section(console, "Tokens", *usage.usage_tables(record.usage, seconds, console.width))
    if record.reports or record.failures:
        console.print(f"Failures: {_failures(record)}", soft_wrap=True)
    if record.directory is not None and record.failures.get(LEFT_OUT):
        console.print(f"Left out: {left_out(record.directory)}", soft_wrap=True)
    if record.people is not None:
        people_summary.print_people(console, record.people)
    if record.directory is not None:
        console.print(f"Run: {clean(record.directory.run_file)}", soft_wrap=True)


def _failures(record: Record) -> str:
    """Say how many replies and agents failed, and which share of them that is."""
    n_replies = sum(used.calls for used in record.usage)
    n_agents = record.reports[-1].n_agents if record.reports else 0
    agents = {kind: n for kind, n in record.failures.items() if kind in AGENT_FAILURES}
    replies = {kind: n for kind, n in record.failures.items() if kind not in {*AGENT_FAILURES, LEFT_OUT}}
    parts = [
        f"{figures.counts(failed, whole)}{f' of {whole:,} {what}' if whole else ''}"
        for failed, whole, what in ((replies, n_replies, "replies"), (agents, n_agents, "agents"))
        if any(failed.values())
    ]
    return "; ".join(parts) or "none"


def _section(console: Console, title: str, *parts: RenderableType) -> None:
    console.print(title, style="bold")
    for part in parts:
        console.print(part)
        console.print()


def print_stop(console: Console, last: Finished) -> None:
    """Print which budget ended a run, and the way on."""
    console.print(f"stopped by {clean(last.where)}: {clean(last.what)}", style="yellow", soft_wrap=True)
    console.print(f"  {clean(last.hint)}", soft_wrap=True)


def print_error(console: Console, error: SimtuiError | Finished) -> None:
    """Print what happened, where, and the way out."""
    where = f"{clean(error.where)}: " if error.where else ""
    console.print(f"error: {where}{clean(error.what, 20_000, lines=True)}", style="red", soft_wrap=True)
    if error.hint:
        console.print(f"  {clean(error.hint, lines=True)}", soft_wrap=True)

"""What is printed when a run is over: rounds, where the time went, answers, failures, where it lies."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.text import Text

from app import figures, picture, rounds
from app.record import Record
from app.sanitise import clean
from engine.cluster.control import Finished
from engine.errors import SimtuiError


def print_report(console: Console, record: Record, *, blocks: bool) -> None:
    """Print everything that a run has to show; of a run without rounds, only where it lies."""
    if record.reports:
        console.print()
        _section(console, "Rounds", *rounds.results_tables(record.reports, console.width))
        _section(
            console,
            "Seconds, by what they went to (journal: beside the rest)",
            rounds.time_table(record.reports),
        )
    if drawn := picture.picture(record.reports, min(console.width, 120), blocks=blocks):
        _section(console, "Answers", Text("\n".join(drawn), no_wrap=True, overflow="crop"))
    if record.reports or record.failures:
        console.print(f"Failures: {figures.counts(record.failures) or 'none'}", soft_wrap=True)
    if record.directory is not None:
        console.print(f"Run: {clean(record.directory.run_file)}", soft_wrap=True)


def _section(console: Console, title: str, *parts: RenderableType) -> None:
    console.print(title, style="bold")
    for part in parts:
        console.print(part)
        console.print()


def print_error(console: Console, error: SimtuiError | Finished) -> None:
    """Print what happened, where, and the way out."""
    where = f"{clean(error.where)}: " if error.where else ""
    console.print(f"error: {where}{clean(error.what, 20_000, lines=True)}", style="red", soft_wrap=True)
    if error.hint:
        console.print(f"  {clean(error.hint, lines=True)}", soft_wrap=True)

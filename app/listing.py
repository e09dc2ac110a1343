"""`simtui runs`: the runs on disk, newest first, and what is in their place but is none."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from app import figures, rounds, runs, usage
from app.sanitise import clean, json_line
from engine.cluster.control import Usage
from engine.errors import JournalError
from engine.journal.listing import Glance, is_run, look_at, run_folders
from engine.journal.run_directory import RunDirectory, default_parent

COLOURS = {"running": "cyan", "done": "green", "failed": "red", "died": "red"}
INDENT = 13
"""The longest state and two spaces."""
MAX_OTHERS = 5


@dataclass(frozen=True)
class Listing:
    """Runs, newest first, and what else is there."""

    places: Sequence[Path]
    """Where runs were looked for."""
    runs: Sequence[Glance]
    broken: Sequence[JournalError]
    """Why some runs cannot be read."""
    others: Sequence[Path]
    """Folders that have nothing of a run."""


def list_runs(folders: Iterable[str]) -> Listing:
    """Look at all runs in the usual place and in the folders given. Raises UsageError."""
    given = [Path(name).expanduser().absolute() for name in folders]
    usual = [default_parent()] if os.path.lexists(default_parent()) else []
    found, broken, others = [], [], []
    for path in dict.fromkeys(path for place in usual + given for path in run_folders(place)):
        try:
            if is_run(path):
                found.append(look_at(RunDirectory(path)))
            else:
                others.append(path)
        except JournalError as error:
            broken.append(error)
    found.sort(key=lambda run: run.started, reverse=True)
    return Listing([default_parent(), *given], found, broken, others)


def print_listing(console: Console, listing: Listing, now: datetime) -> None:
    """Print a paragraph a run."""
    for run in listing.runs:
        _print_run(console, run, now)
    if not listing.runs:
        console.print(f"No runs in {', '.join(map(clean, listing.places))}", soft_wrap=True)
    if listing.broken:
        console.print("Not readable as a run:")
    for error in listing.broken:
        console.print(f"  {clean(error.where)}: {clean(error.what)}", soft_wrap=True)
    if listing.others:
        names = [clean(path.name, 40) for path in listing.others[:MAX_OTHERS]]
        names += ["..."] * (len(listing.others) > MAX_OTHERS)
        folders = figures.plural(len(listing.others), "folder")
        console.print(f"Besides, {folders} without a run: {', '.join(names)}", soft_wrap=True)


def as_json(listing: Listing, now: datetime) -> str:
    """Return the object of `--json`."""
    broken = [{"path": error.where, "what": error.what, "hint": error.hint} for error in listing.broken]
    found = {"runs": [describe(run, now) for run in listing.runs], "unreadable": broken}
    return json_line({**found, "others": [str(path) for path in listing.others]})


def describe(run: Glance, now: datetime) -> dict[str, Any]:
    """Return what is known of a run at a glance, for JSON."""
    progress = run.progress
    return {
        "name": run.manifest.name,
        "run_directory": run.directory,
        "state": run.state,
        "pid": run.pid,
        "started": run.started,
        "last_sign": run.last_sign,
        "seconds": _seconds(run, now),
        "bytes": run.bytes,
        "n_agents": progress.agents,
        "n_rounds": progress.rounds,
        "rounds_done": progress.rounds_done,
        "share_of_round": progress.share,
        "backends": progress.models,
        "usage": progress.usage,
        "resume": resume_command(run),
    }


def resume_command(run: Glance) -> str | None:
    """Return the command that goes on with a run, if it can go on."""
    name = runs.name_of(RunDirectory(run.directory))
    return f"simtui --resume {shlex.quote(name)}" if run.resumable else None


def facts(run: Glance, now: datetime) -> list[str]:
    """Return progress, size, time and cost of a run, as far as they are known."""
    progress = run.progress
    known = [
        _progress(run),
        figures.plural(progress.agents, "agent") if progress.agents is not None else "",
        clean(", ".join(progress.models), 200),
        f"{tokens:,} tokens" if (tokens := sum(u.tokens_in + u.tokens_out for u in progress.usage)) else "",
        usage.cost(_usage(run)),
        figures.moment(run.started),
        figures.duration(_seconds(run, now)),
        figures.size(run.bytes),
    ]
    return [fact for fact in known if fact]


def _print_run(console: Console, run: Glance, now: datetime) -> None:
    name = clean(runs.name_of(RunDirectory(run.directory)))
    state = Text(f"{clean(run.state, INDENT - 2):{INDENT}}", style=COLOURS.get(run.state, "yellow"))
    console.print(state + Text(name, style="bold"), soft_wrap=True)
    lines = rounds.flow(facts(run, now), console.width - INDENT)
    lines += [command] if (command := resume_command(run)) else []
    for line in lines:
        console.print(" " * INDENT + line.strip(), soft_wrap=True)


def _usage(run: Glance) -> list[Usage]:
    return [Usage(slice="", **msgspec.structs.asdict(used)) for used in run.progress.usage]


def _progress(run: Glance) -> str:
    progress = run.progress
    of = f"/{progress.rounds:,}" if progress.rounds is not None else ""
    if progress.share is None:
        return f"round {progress.rounds_done:,}{of}"
    return f"round {progress.rounds_done + 1:,}{of}, {int(100 * min(1.0, progress.share))}%"


def _seconds(run: Glance, now: datetime) -> float:
    until = now if run.state == "running" else run.last_sign
    return max(0.0, (until - run.started).total_seconds())

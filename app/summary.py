"""`simtui show RUN`: what was run, with what, how its rounds ended, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

import msgspec
from msgspec.structs import asdict
from rich.console import Console
from rich.text import Text

from app import figures, listing, rounds
from app.people_summary import as_builtins
from app.record import Record
from app.report import print_report
from app.runs import settings_of
from app.sanitise import clean, json_line
from app.usage import in_all
from engine.cluster.control import PeopleReport, Usage
from engine.cluster.round_rows import report_of, usage_by_round
from engine.errors import SimtuiError
from engine.journal.listing import Glance, look_at
from engine.journal.personas import COMPLETE
from engine.journal.reader import Reader
from engine.journal.rounds import Round
from engine.journal.run_directory import RunDirectory
from engine.journal.storable import Value
from engine.preset.wording import is_secret, path_text, show

LABEL = 10
MAX_SETTING = 60


@dataclass(frozen=True)
class Summary:
    """A run in some detail, without its agents."""

    glance: Glance
    meta: dict[str, Value]
    models: list[tuple[str, str, str]]
    """Name, backend and what the backend says of itself, as JSON."""
    rounds: list[Round]
    failures: dict[str, int]
    settings: dict[str, Any]
    """By key; empty if the preset cannot be read any more."""
    preset_problem: str = ""
    usage: Mapping[int, list[Usage]] = field(default_factory=dict)
    """By round."""
    people: PeopleReport | None = None
    """Who the agents are."""


def summarise(run: RunDirectory) -> Summary:
    """Read a run. Raises SimtuiError."""
    glance = look_at(run)
    settings, problem = {}, ""
    try:
        settings = {path_text(path): value for path, value in settings_of(run).items() if not is_secret(path)}
    except SimtuiError as error:
        problem = str(error)
    with Reader(run.run_file) as file, file.snapshot():
        models = file.rows("SELECT name, backend, description FROM models ORDER BY id")
        return Summary(
            glance,
            file.meta(),
            models,
            file.rounds(),
            file.failures(),
            settings,
            preset_problem=problem,
            usage=usage_by_round(file.usage()),
            people=_people(file),
        )


def _people(file: Reader) -> PeopleReport | None:
    found = file.population().get(COMPLETE)
    with file.reading():
        return msgspec.json.decode(found, type=PeopleReport) if found else None


def as_json(summary: Summary, now: datetime) -> str:
    """Return the object of `--json`."""
    return json_line(
        {
            **listing.describe(summary.glance, now),
            "description": summary.meta.get("description"),
            "settings": summary.settings,
            "preset_problem": summary.preset_problem or None,
            "manifest": summary.glance.manifest,
            "models": [
                {"name": name, "backend": backend, "description": description}
                for name, backend, description in summary.models
            ],
            "people": as_builtins(summary.people),
            "rounds": summary.rounds,
            "failures": summary.failures,
            "usage": {number: [asdict(used) for used in usage] for number, usage in summary.usage.items()},
        }
    )


def print_summary(console: Console, summary: Summary, now: datetime, *, blocks: bool) -> None:
    """Print what was run and with what, then the report that ended the run."""
    glance = summary.glance
    console.print(clean(glance.manifest.name, 200), style="bold", soft_wrap=True)
    for label, parts in _facts(summary, now).items():
        _print_flow(console, label, [clean(part, 2000) for part in parts if part])
    print_report(console, _record(summary), blocks=blocks)
    if command := listing.resume_command(glance):
        console.print(f"go on with: {command}", soft_wrap=True)


def _facts(summary: Summary, now: datetime) -> dict[str, list[str]]:
    manifest, glance = summary.glance.manifest, summary.glance
    facts = {
        "what": [str(summary.meta.get("description") or "")],
        "state": [glance.state, *listing.facts(glance, now)],
        "resumed": manifest.resumed,
        "branch": [f"of {manifest.parent.run} after round {manifest.parent.round}"]
        if manifest.parent
        else [],
        "settings": [f"{key} {show(value, MAX_SETTING)}" for key, value in _telling(summary)],
        "preset": [summary.preset_problem],
        "versions": [f"simtui {manifest.simtui}", f"Python {manifest.python}", "(libraries: manifest.json)"],
        "hosts": [
            f"{host.name}: {figures.plural(host.cores, 'core')}, {host.cpu}" for host in manifest.hosts
        ],
    }
    models = {f"model {n}": _model(*map(str, model)) for n, model in enumerate(summary.models, 1)}
    return facts | models


def _telling(summary: Summary) -> list[tuple[str, Any]]:
    """Return the settings that say what the run is about."""
    tables = ("scenario.", "population.", "slices", "answers.", "seed")
    return [
        (key.removeprefix("scenario."), value)
        for key, value in summary.settings.items()
        if key.startswith(tables) and value not in ("", [], {})
    ]


def _model(name: str, backend: str, description: str) -> list[str]:
    try:
        details = msgspec.json.decode(description, type=dict[str, Any])
    except msgspec.DecodeError:
        details = {"": description}
    return [name, backend, *(f"{key} {value}" for key, value in details.items())]


def _record(summary: Summary) -> Record:
    record = Record()
    record.directory = RunDirectory(summary.glance.directory)
    record.failures = summary.failures
    record.people = summary.people
    n_agents = summary.glance.progress.agents or 0
    record.reports = [report_of(row, n_agents, summary.usage.get(row.round)) for row in summary.rounds]
    record.usage = in_all(chain.from_iterable(summary.usage.values()))
    return record


def _print_flow(console: Console, label: str, parts: list[str]) -> None:
    if not parts:
        return
    for n, line in enumerate(rounds.flow(parts, console.width - LABEL)):
        head = f"{label if n == 0 else '':{LABEL}}"
        for m, wrapped in enumerate(Text(line.strip()).wrap(console, max(20, console.width - LABEL))):
            wrapped.rstrip()
            console.print(Text(head if m == 0 else " " * LABEL, style="dim") + wrapped, soft_wrap=True)

"""`simtui compare`: in what runs differ, and by how much."""

from __future__ import annotations

import string
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from app import runs
from app.sanitise import json_line
from engine.compare.comparison import Comparison, compare
from engine.compare.differences import Difference, circumstances, differences
from engine.errors import SimtuiError, UsageError
from engine.journal.listing import Glance, look_at
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.preset.wording import is_secret, path_text

MAX_RUNS = len(string.ascii_uppercase)


@dataclass(frozen=True)
class Compared:
    """Runs side by side."""

    runs: list[Glance]
    settings: list[Difference]
    circumstances: list[Difference]
    """Versions, models and machines."""
    comparisons: list[Comparison]
    problems: list[str]
    """What could not be compared."""


def compare_runs(names: Sequence[str], seed: int) -> Compared:
    """Compare runs with the first of them. Raises SimtuiError."""
    if not 2 <= len(names) <= MAX_RUNS:
        raise UsageError(
            f"{len(names)} runs cannot be compared", where="compare", hint=f"Name 2 to {MAX_RUNS} runs."
        )
    found = [runs.find_run(name) for name in names]
    glances = [look_at(run) for run in found]
    problems: list[str] = []
    settings = [_settings(run, problems) for run in found]
    with ExitStack() as stack:
        files = [stack.enter_context(Reader(run.run_file)) for run in found]
        for file in files:
            stack.enter_context(file.snapshot())
        comparisons = compare(files, seed)
    made = [circumstances(glance.manifest) for glance in glances]
    return Compared(glances, differences(settings), differences(made), comparisons, problems)


def as_json(compared: Compared) -> str:
    """Return the object of `--json`."""
    return json_line(
        {
            "runs": [
                {"run_directory": run.directory, "state": run.state, "name": run.manifest.name}
                for run in compared.runs
            ],
            "settings": [asdict(each) for each in compared.settings],
            "circumstances": [asdict(each) for each in compared.circumstances],
            "comparisons": [_as_dict(each) for each in compared.comparisons],
            "problems": compared.problems,
        }
    )


def _settings(run: RunDirectory, problems: list[str]) -> dict[str, Any]:
    try:
        found = runs.settings_of(run)
    except SimtuiError as error:
        problems.append(f"settings not compared: {error}")
        return {}
    return {path_text(path): value for path, value in found.items() if not is_secret(path)}


def _as_dict(comparison: Comparison) -> dict[str, Any]:
    rounds = [{**asdict(each), "p": each.p} for each in comparison.rounds]
    return {"a": comparison.a, "b": comparison.b, "rounds": rounds}

"""Makes the run directory of a branch: the parent's first rounds, its preset for them, and the new one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec

from app.runs import layer_of
from engine.errors import UsageError
from engine.journal.ancestry import shared_with
from engine.journal.branch import copy_rounds
from engine.journal.manifest import Parent, read_manifest, settings_hash, write_manifest
from engine.journal.run_directory import (
    RunDirectory,
    claim_run_directory,
    create_run_directory,
)
from engine.preset import assignments
from engine.preset.load import Loaded, load


def make_branch(parent: RunDirectory, last_round: int, sets: Sequence[str], out: str | None) -> RunDirectory:
    """Make a run directory that `--resume` goes on with after `last_round`, beside that of the parent unless
    `out` names another place. Raises SimtuiError."""
    layer = layer_of(parent)
    before = load([layer], str(parent.preset))
    after = load([layer, assignments.command_line(sets)], str(parent.preset))
    _check(parent, before, after, last_round)
    made = (
        claim_run_directory(Path(out).expanduser().absolute())
        if out
        else create_run_directory(parent.path.parent, f"{after.preset.name}-branch", datetime.now())
    )
    try:
        _fill(made, parent, last_round, before.toml, after.toml)
    except BaseException:
        shutil.rmtree(made.path, ignore_errors=True)  # half a branch is of no use
        raise
    return made


def _fill(made: RunDirectory, parent: RunDirectory, last_round: int, before: str, after: str) -> None:
    copy_rounds(parent.run_file, made.run_file, last_round)
    *earlier, (_, _, before) = _shared(parent, last_round, before)
    made.before.write_text(before, encoding="utf-8")
    ancestor = None
    for n, (last, run, toml) in enumerate(earlier):
        made.earlier(len(earlier) - n).write_text(toml, encoding="utf-8")
        ancestor = Parent(run=run, round=last, parent=ancestor)
    made.preset.write_text(after, encoding="utf-8")
    manifest = msgspec.structs.replace(
        read_manifest(parent.manifest),
        state="branched",
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        ended=None,
        resumed=[],
        preset_sha256=sha256(after.encode()).hexdigest(),
        settings_sha256=settings_hash(after.encode()),
        parent=Parent(run=str(parent.path), round=last_round, parent=ancestor),
    )
    write_manifest(manifest, made.manifest)


def _shared(parent: RunDirectory, last_round: int, toml: str) -> list[tuple[int, str, str]]:
    """Return last round, run and preset of each part of the first rounds; `toml` is the parent's preset."""
    parts = [(part.last, part.run, part.preset.read_text(encoding="utf-8")) for part in shared_with(parent)]
    parts.append((last_round, str(parent.path), toml))
    begins = [1, *(last + 1 for last, _, _ in parts)]
    return [
        (min(last, last_round), run, preset)
        for first, (last, run, preset) in zip(begins, parts, strict=False)
        if first <= last_round
    ]


def _check(parent: RunDirectory, before: Loaded, after: Loaded, last_round: int) -> None:
    fixed = {
        "population.size": (before.preset.population.size, after.preset.population.size),
        "scenario.name": (before.preset.scenario.scenario_name, after.preset.scenario.scenario_name),
        "scenario.groups": (before.preset.scenario.groups, after.preset.scenario.groups),
        "seed": (before.preset.seed, after.preset.seed),
    }
    for key, (old, new) in fixed.items():
        if old != new:
            raise UsageError(f"{key} is the same in all branches", where="--set", hint=f"It is {old}.")
    people, persona = before.preset.population, before.preset.population.persona
    if persona and persona.writer and people != after.preset.population:
        raise UsageError(
            "the population cannot change, as a model has written its personas",
            where="--set",
            hint="Start a new run with another population.",
        )
    if after.preset.scenario.rounds <= last_round:
        raise UsageError(
            f"after round {last_round} there is no round left",
            where="--round",
            hint=f"The run has {after.preset.scenario.rounds}; --set scenario.rounds=N makes it longer.",
        )

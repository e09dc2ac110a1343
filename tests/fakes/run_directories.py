"""Run directories as a run leaves them behind, without a run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from engine.journal.batch import JournalBatch
from engine.journal.manifest import describe_run, write_manifest
from engine.journal.rounds import Round
from engine.journal.run_directory import RunDirectory
from engine.journal.writer import Writer

STARTED = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
PRESET = """\
name = "demo"
seed = 1
[scenario]
name = "guess_average"
rounds = {rounds}
[population]
size = {agents}
[model]
backend = "dummy"
"""


def make_run(
    path: Path,
    batch: JournalBatch | None = None,
    ends: list[Round] | None = None,
    *,
    agents: int = 4,
    rounds: int = 2,
    groups: int = 1,
    preset: str = PRESET,
    **manifest: Any,
) -> RunDirectory:
    """Make a run directory; `manifest` are fields of the manifest that differ from a run that is done."""
    run = RunDirectory(path)
    path.mkdir(parents=True)
    run.preset.write_text(preset.format(agents=agents, rounds=rounds), encoding="utf-8")
    described = describe_run("demo", 1, run.preset.read_bytes(), STARTED).ended_as("done", STARTED)
    write_manifest(msgspec.structs.replace(described, **manifest), run.manifest)
    writer = Writer(run.run_file, now=STARTED.timestamp)
    writer.meta({"name": "demo", "description": "A demo", "scenario": "guess_average", "seed": 1})
    writer.meta({"agents": agents, "rounds": rounds, "groups": groups})
    writer.model(1, "default", "dummy", {"latency_s": 0.1})
    writer.add(batch or JournalBatch([], [], [], []))
    writer.rounds(ends or [])
    writer.close()
    return run

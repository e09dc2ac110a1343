"""What it takes to rebuild the agents of a run from its journal, beside what the run took.

BENCH_AGENTS=100000 pytest -m bench -s tests/bench/bench_resume.py
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from engine.client import RunClient, resume, start
from engine.cluster.control import Event, RoundReport, Snapshot
from engine.preset.assignments import command_line
from engine.preset.load import Loaded, load
from engine.preset.toml_source import file_layer
from tests.bench.machine import Usage, Watch
from tests.bench.machine import load as load_of_machine
from tests.bench.runs import MILLION

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

N_AGENTS = int(os.environ.get("BENCH_AGENTS", "1_000_000"))
ROUNDS = 5
LONG = 300
"""Rounds of a long run."""


def play_rounds(run: RunClient, last: int = ROUNDS) -> tuple[float, list[Event]]:
    """Follow a run through its first rounds and stop it; return the seconds until then, and what it told."""
    started, seconds, events = time.perf_counter(), 0.0, []
    for event in run.events():
        events.append(event)
        if isinstance(event, RoundReport) and event.round == last:
            seconds = time.perf_counter() - started
            run.stop("the bench has seen enough")
    return seconds, events


def cost(usage: Usage) -> float:
    """Return CPU microseconds of an agent's round, start and end of all processes included."""
    return usage.cpu_s / N_AGENTS / ROUNDS * 1e6


def test_rebuilding_a_million_agents(tmp_path: Path) -> None:
    """Target: 60 s of wall time on two quiet cores after five rounds, and progress that is shown."""
    sets = [f"population.size={N_AGENTS}", f"scenario.rounds={ROUNDS + 1}", "model.latency_s=0"]
    loaded = load([file_layer("preset", "preset.toml", MILLION.encode()), command_line(sets)], "preset.toml")
    with Watch() as playing:
        seconds, _ = play_rounds(start(loaded.preset, loaded.toml, tmp_path))
    with Watch() as rebuilding:
        seconds_again, events = play_rounds(resume(loaded.toml, tmp_path))
    shown = {
        e.n_done + e.round * N_AGENTS for e in events if isinstance(e, Snapshot) and e.state == "rebuilding"
    }
    ratio = cost(rebuilding.usage) / cost(playing.usage)
    print(
        f"\n  {N_AGENTS:,} agents rebuilt after {ROUNDS} rounds in {seconds_again:.1f} s (played in "
        f"{seconds:.1f} s), shown in {len(shown)} steps; {load_of_machine()}, {rebuilding.usage.crowd()}"
        f"\n    x{ratio:.2f} the CPU: {cost(rebuilding.usage):.1f} us an agent and round, not "
        f"{cost(playing.usage):.1f} us; {rebuilding.usage.memory()}, not {playing.usage.memory()}"
    )
    assert ratio < 1
    assert len(shown) > 3


def long_run(every: int) -> Loaded:
    sets = [
        "population.size=200",
        f"scenario.rounds={LONG + 2}",
        "model.latency_s=0",
        "journal.transcripts=none",
        f"journal.snapshot_every={every}",
    ]
    return load([file_layer("preset", "preset.toml", MILLION.encode()), command_line(sets)], "preset.toml")


def test_a_long_run_from_a_snapshot(tmp_path: Path) -> None:
    """Target: the time of the rounds since, not that of all."""
    loaded, made = long_run(10), tmp_path / "run"
    made.mkdir()
    play_rounds(start(loaded.preset, loaded.toml, made), LONG)
    cpu_s: dict[int, float] = {}
    wall_s: dict[int, float] = {}
    for every in (10, 0):
        shutil.copytree(tmp_path / "run", tmp_path / f"{every}")
        with Watch() as watch:
            wall_s[every], _ = play_rounds(resume(long_run(every).toml, tmp_path / f"{every}"), LONG + 1)
        cpu_s[every] = watch.usage.cpu_s
    print(
        f"\n  200 agents after {LONG} rounds, up to the next: {wall_s[10]:.1f} s, {cpu_s[10]:.1f} s of "
        f"CPU, from a snapshot; {wall_s[0]:.1f} s, {cpu_s[0]:.1f} s from replies; {load_of_machine()}"
    )
    assert cpu_s[10] < cpu_s[0]

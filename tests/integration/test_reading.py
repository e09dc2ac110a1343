"""Runs that were really played, killed, cut off or carried away, read by the commands that read runs."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import client
from engine.cluster.control import Finished
from engine.journal.listing import DIED, look_at
from engine.journal.run_directory import RunDirectory
from engine.preset.schema import Preset
from engine.verify.check import Check
from engine.verify.verify import verify
from tests.fakes.disks import small_disk
from tests.fakes.played import play as pretend
from tests.fakes.runs import Run, play, trial

pytestmark = pytest.mark.usefixtures("trial_scenario")

ROOT = Path(__file__).parents[2]


def simtui(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from app.main import main; main()", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **options)
    assert "Traceback" not in done.stderr
    return done


def wrong(directory: Path) -> list[Check]:
    checks = verify(RunDirectory(directory))
    assert len(checks) == 13
    return [check for check in checks if check.state == "wrong"]


PLAYED: dict[str, Callable[[], Preset]] = {
    "answers": lambda: trial(7, 2, policy="number", rounds=2),
    "in groups": lambda: trial(12, 2, policy="number", rounds=2, groups=3),
    "an agent that raises": lambda: trial(
        6, 2, act="raises", victim=2, when=2, rounds=3, engine={"failure_budget": 0.5}
    ),
    "agents that fail in many ways": lambda: trial(
        12, 2, act="assorted", when=2, rounds=3, engine={"deadline_s": 0.4, "failure_budget": 0.9}
    ),
    "an agent that kills its worker": lambda: trial(
        6, 2, act="kills", victim=1, when=2, rounds=2, engine={"failure_budget": 0.5}
    ),
    "questions without an answer": lambda: trial(
        6, 2, act="embraces", rounds=1, engine={"deadline_s": 0.4, "failure_budget": 0.9}
    ),
    "messages": lambda: trial(12, 2, act="talks", policy="number", rounds=3, groups=2),
    "replies without an answer": lambda: trial(5, 2, policy="rubbish", rounds=2, answers={"retries": 1}),
    "fallbacks": lambda: trial(
        5, 2, policy="rubbish", rounds=2, answers={"retries": 1, "on_failure": "fallback", "fallback": 7}
    ),
    "replies of a megabyte": lambda: trial(
        3, 1, policy="megabyte", rounds=1, journal={"max_text_chars": 100}
    ),
    "texts of some": lambda: trial(20, 2, policy="number", rounds=2, journal={"transcripts": "1 in 4"}),
    "free texts": lambda: trial(4, 1, act="writes", policy="number", rounds=2),
}


@pytest.mark.parametrize("preset", PLAYED.values(), ids=PLAYED)
def test_a_run_that_was_played_is_sound(tmp_path: Path, preset: Callable[[], Preset]) -> None:
    play(preset(), tmp_path / "run")
    assert wrong(tmp_path / "run") == []


def test_a_killed_run_has_died_and_is_sound_and_so_it_is_when_it_has_gone_on(tmp_path: Path) -> None:
    run = Run(trial(6, 2, act="gated", when=2, rounds=3, gate=str(tmp_path / "gate")), tmp_path / "run")
    run.until_round(1)
    glance = look_at(RunDirectory(run.directory))
    assert (glance.state, glance.pid, glance.progress.rounds_done) == ("running", run.coordinator.pid, 1)
    assert "running" in simtui("runs", tmp_path).stdout
    assert simtui("show", run.directory, 0).returncode == 0
    run.coordinator.kill()
    run.to_the_end()
    run.check_that_nothing_is_left()
    glance = look_at(RunDirectory(run.directory))
    assert (glance.state, glance.resumable) == (DIED, True)
    assert wrong(run.directory) == []
    assert f"simtui --resume {run.directory}" in simtui("runs", tmp_path).stdout
    (tmp_path / "gate").touch()
    *_, last = client.resume((run.directory / "preset.toml").read_text(), run.directory).events()
    assert isinstance(last, Finished)
    assert last.state == "done", last
    assert wrong(run.directory) == []
    assert len(look_at(RunDirectory(run.directory)).manifest.resumed) == 1


def test_a_live_run_that_is_read_ends_as_if_it_were_not(tmp_path: Path) -> None:
    run = Run(trial(6, 2, act="gated", when=2, rounds=2, gate=str(tmp_path / "gate")), tmp_path / "run")
    run.until_round(1)
    told = simtui("export", run.directory, "--format", "jsonl", "--table", "replies")
    assert len(told.stdout.splitlines()) >= 6
    refused = simtui("verify", run.directory)
    assert refused.returncode == 1
    assert f"process {run.coordinator.pid} is running this run" in refused.stderr
    (tmp_path / "gate").touch()
    assert run.to_the_end().state == "done"
    run.check_that_nothing_is_left()
    assert simtui("verify", run.directory, "--no-replay").returncode == 0
    assert sorted(path.name for path in run.directory.glob("run.db*")) == ["run.db"]


def test_a_verified_run_is_replayed(tmp_path: Path) -> None:
    preset = tmp_path / "tiny.toml"
    preset.write_text(
        'name = "tiny"\n[scenario]\nname = "guess_average"\nrounds = 2\n[population]\nsize = 5\n'
        '[model]\nbackend = "dummy"\nlatency_s = 0\n'
    )
    assert simtui("--run", preset, "--out", tmp_path / "run").returncode == 0
    told = simtui("verify", tmp_path / "run")
    assert told.returncode == 0
    assert told.stdout.splitlines()[-1] == "ok         replay agrees (2)"


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_export_that_is_stopped_leaves_nothing_behind(tmp_path: Path, signum: signal.Signals) -> None:
    run = pretend(tmp_path / "run", [("1", "2")])
    script = """
import signal, sys
import app.export
def export(file, table, form, out):
    out.write(b"x" * 100_000)
    print("writing", flush=True)
    signal.pause()
app.export.export = export
from app.main import main
main()
"""
    out = tmp_path / "out.csv"
    command = [sys.executable, "-c", script, "export", str(run.path), "--format", "csv", "--out", str(out)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    assert len(list(tmp_path.glob(".out.csv.*.part"))) == 1
    process.send_signal(signum)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == {signal.SIGINT: 130}.get(signum, 128 + signum)
    assert "Traceback" not in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["packages", "run"]


def test_a_reader_of_an_export_that_goes_away_is_no_error(tmp_path: Path) -> None:
    run = pretend(tmp_path / "run", [tuple(map(str, range(100)))] * 50)
    command = [sys.executable, "-c", "from app.main import main; main()"]
    command += ["export", str(run.path), "--format", "jsonl", "--table", "replies"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b'{"key":')
    process.stdout.close()
    assert process.wait(timeout=20) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_read_only_media_can_be_read(tmp_path: Path) -> None:
    run = pretend(tmp_path / "run", [("1", "2")])
    with small_disk(tmp_path / "disk", 4096) as disk:
        shutil.copytree(run.path, disk / "run")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert "disk/run" in simtui("runs", disk).stdout
        assert simtui("show", disk / "run").returncode == 0
        assert simtui("show", disk / "run", 0).returncode == 0
        assert simtui("verify", disk / "run", "--no-replay").returncode == 0
        there = simtui("export", disk / "run", "--format", "csv", "--out", disk / "out.csv")
        assert (there.returncode, there.stderr.count("Read-only file system")) == (1, 1)
        assert (
            simtui("export", disk / "run", "--format", "csv", "--out", tmp_path / "out.csv").returncode == 0
        )


def test_a_full_disk_keeps_no_half_an_export(tmp_path: Path) -> None:
    run = pretend(tmp_path / "run", [tuple(map(str, range(100)))] * 20)
    with small_disk(tmp_path / "disk", 12) as disk:
        for form in ("csv", "jsonl", "parquet", "arrow"):
            out = ("--format", form, "--table", "transcript", "--out", disk / "out")
            told = simtui("export", run.path, *out)
            assert (told.returncode, told.stdout) == (1, ""), form
            assert "No space left" in told.stderr
            assert os.listdir(disk) == []

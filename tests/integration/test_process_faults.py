"""Processes of a run that are killed, and those who started it that go away: nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from engine.cluster.control import Notice, Snapshot
from engine.preset.write import to_toml
from tests.fakes.cluster import Cluster
from tests.fakes.runs import Run, play, replies, trial
from tests.fakes.waiting import wait_until

pytestmark = pytest.mark.usefixtures("trial_scenario")

ROOT = Path(__file__).parents[2]


def expected(**options: object) -> Cluster:
    from random import Random

    return Cluster(trial(8, 1, **options), Random(1)).play()  # type: ignore[arg-type]


# workers and services: replaced


def gated(tmp_path: Path, **options: object) -> tuple[Run, Path]:
    """Start a run of two rounds of which the second waits for a file to be made."""
    gate = tmp_path / "gate"
    run = Run(
        trial(8, 2, act="gated", victim=5, when=2, rounds=2, gate=str(gate), **options),  # type: ignore[arg-type]
        tmp_path / "run",
    )
    run.until_round(1)
    return run, gate


def test_a_killed_worker_is_replaced_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    run, gate = gated(tmp_path)
    run.workers[1].kill()
    run.until(lambda event: isinstance(event, Notice) and "SIGKILL" in event.text)
    gate.touch()
    assert run.to_the_end().state == "done"
    run.check_that_nothing_is_left()
    assert "worker-1 was killed by SIGKILL" in run.notices
    rows = list(replies(run))
    assert len({key for key, *_ in rows}) == len(rows) == 16
    plain = expected(rounds=2)
    assert run.values()[0] == json.loads(str(plain.outcomes[0].stats["values"]))
    assert [value for _, _, value in rows] == [value for _, _, value in sorted(plain.rows)]
    assert run.query("SELECT kind FROM events") == [("started",), ("restarted",), ("started",), ("done",)]


def test_an_agent_that_kills_its_worker_each_time_is_isolated(tmp_path: Path) -> None:
    run = play(trial(8, 2, act="kills", victim=5, when=2, rounds=3), tmp_path / "run")
    assert run.finished.state == "done", run.finished
    assert "agent 5 is isolated" in run.notices
    assert [(row[5] is None, sum(value is None for value in row)) for row in run.values()] == [
        (False, 0),
        (True, 1),
        (True, 1),
    ]
    assert run.query("SELECT agent, round, kind FROM failures") == [(5, 2, "isolated")]


def test_a_killed_model_service_is_replaced_and_asked_again(tmp_path: Path) -> None:
    preset = trial(6, 2, policy="die_once", rounds=2, gate=str(tmp_path / "died"))
    run = play(preset, tmp_path / "run")
    assert run.finished.state == "done", run.finished
    assert "model-default was killed by SIGKILL" in run.notices
    assert run.values() == [[7.0] * 6] * 2
    assert len(list(replies(run))) == 12


def test_a_model_service_that_dies_each_time_fails_the_run_by_name(tmp_path: Path) -> None:
    run = play(trial(6, 2, policy="die"), tmp_path / "run")
    assert (run.finished.state, run.finished.exit_code) == ("failed", 1)
    assert "model-default was killed by SIGKILL" in run.finished.what
    assert run.finished.where == "model-default"
    assert str(run.directory) in run.finished.hint


# the coordinator


def held(tmp_path: Path, act: str = "holds", workers: int = 2, start: str = "fork") -> Run:
    """Start a run that stands still in its second round."""
    run = Run(trial(8, workers, start=start, act=act, when=2, rounds=3, victim=5), tmp_path / "run")
    run.until_round(1)
    run.until(lambda event: isinstance(event, Snapshot))
    return run


@pytest.mark.parametrize(
    ("number", "start"),
    [(signal.SIGTERM, "fork"), (signal.SIGINT, "inline"), (signal.SIGHUP, "inline")],
)
def test_a_coordinator_that_is_told_to_end_saves_everything(
    number: signal.Signals, start: str, tmp_path: Path
) -> None:
    run = held(tmp_path, start=start)
    run.coordinator.send_signal(number)
    finished = run.to_the_end()
    assert (finished.state, finished.exit_code, finished.what) == ("interrupted", 130, f"got {number.name}")
    run.check_that_nothing_is_left()
    check_what_is_kept(run)
    assert run.query("SELECT kind FROM events") == [("started",), ("interrupted",)]
    assert json.loads((run.directory / "manifest.json").read_text())["state"] == "interrupted"


def check_what_is_kept(run: Run) -> None:
    """The first round is in the journal, in full."""
    assert run.query("SELECT count(*) FROM replies WHERE round = 1 AND value IS NOT NULL") == [(8,)]
    assert run.query("SELECT round, n_answered FROM rounds_overall") == [(1, 8)]
    assert run.query("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("act", ["holds", "spins"], ids=["idle", "an agent in an endless loop"])
def test_nothing_outlives_a_killed_coordinator(act: str, tmp_path: Path) -> None:
    run = held(tmp_path, act)
    assert len(run.look()) >= 4
    run.client.kill()
    finished = run.to_the_end()
    assert (finished.state, finished.exit_code) == ("failed", 1)
    assert finished.what == "the coordinator was killed by SIGKILL"
    assert finished.where == f"process {run.coordinator.pid}"
    run.check_that_nothing_is_left()
    check_what_is_kept(run)


def test_workers_in_an_endless_loop_do_not_keep_a_run_from_ending(tmp_path: Path) -> None:
    run = held(tmp_path, "spins")
    run.client.stop("enough")
    finished = run.to_the_end()
    assert (finished.state, finished.what) == ("interrupted", "enough")
    run.check_that_nothing_is_left()
    check_what_is_kept(run)


def test_a_run_that_is_stopped_while_it_starts(tmp_path: Path) -> None:
    run = Run(trial(8, 2), tmp_path / "run")
    run.client.stop("changed my mind")
    assert run.to_the_end().state in ("interrupted", "done")
    run.check_that_nothing_is_left()


# whoever started the run


CLIENT = """
import sys
from pathlib import Path
from engine.client import start
from engine.cluster.control import RoundReport
from engine.preset.load import from_toml

text = Path(sys.argv[1]).read_text()
run = start(from_toml(text.encode(), "preset"), text, Path(sys.argv[2]))
for event in run.events():
    if isinstance(event, RoundReport):
        print(run._process.pid, run._endpoints.folder, flush=True)
"""


class Abandoned(Run):
    """A run whose client is another process, which has seen the first round."""

    def __init__(self, tmp_path: Path, act: str) -> None:
        preset = trial(8, 2, act=act, when=2, rounds=3, victim=5)
        file = tmp_path / "preset.toml"
        file.write_text(to_toml(preset))
        self.directory = tmp_path / "run"
        self.directory.mkdir()
        self.owner = subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(file), str(self.directory)], stdout=subprocess.PIPE, text=True
        )
        assert self.owner.stdout is not None
        pid, folder = self.owner.stdout.readline().split()
        self.coordinator = psutil.Process(int(pid))
        self.sockets = Path(folder)
        self._processes = {self.coordinator}
        self.look()

    def end_owner(self) -> None:
        """Kill whoever started the run."""
        self.owner.kill()
        self.owner.wait()
        assert self.owner.stdout is not None
        self.owner.stdout.close()


@pytest.mark.parametrize("act", ["holds", "spins"])
def test_a_run_ends_with_whoever_started_it(act: str, tmp_path: Path) -> None:
    run = Abandoned(tmp_path, act)
    assert len(run.look()) >= 4
    run.end_owner()
    run.check_that_nothing_is_left()
    check_what_is_kept(run)
    assert json.loads((run.directory / "manifest.json").read_text())["state"] == "interrupted"


def test_the_next_run_sweeps_up_what_a_run_killed_all_at_once_has_left(tmp_path: Path) -> None:
    run = Abandoned(tmp_path, "holds")
    everything = run.look()
    for process in everything:  # stopped first: none may notice that another has gone
        process.suspend()
    run.end_owner()
    for process in everything:
        process.kill()
    wait_until(lambda: not run.look(), "all are dead")
    assert run.sockets.exists()
    play(trial(2, 1), tmp_path / "next")
    assert not run.sockets.exists()
    check_what_is_kept(run)


def test_signals_of_the_terminal_reach_the_coordinator_alone(tmp_path: Path) -> None:
    """Ctrl-C goes to every process of a terminal; workers leave it to the coordinator."""
    run = held(tmp_path)
    for process in [*run.workers, *run.services]:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            os.kill(process.pid, number)
    for _ in range(3):
        run.until(lambda event: isinstance(event, Snapshot))
    assert "killed" not in run.notices
    run.client.stop("enough")
    assert run.to_the_end().state == "interrupted"
    run.check_that_nothing_is_left()

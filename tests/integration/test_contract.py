"""The same run however its workers start and however many they are."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.fakes.cluster import Cluster
from tests.fakes.runs import Run, play, replies, trial

pytestmark = pytest.mark.usefixtures("trial_scenario")

STARTS = ("inline", "fork", "spawn")


def expected(**options: Any) -> Cluster:
    """Play the same run in this process, without any of the machinery."""
    return Cluster(trial(options.pop("size"), 1, **options), Random(1)).play()


def check_against(run: Run, cluster: Cluster) -> None:
    assert run.finished.state == "done", run.finished
    assert [report.outcome for report in run.reports] == cluster.outcomes
    assert list(replies(run)) == sorted(cluster.rows)


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("start", STARTS)
def test_one_group_over_workers(start: str, workers: int, tmp_path: Path) -> None:
    """The group is spread, its size (23) divides by no number of workers, and its members talk."""
    options = {"size": 23, "act": "talks", "rounds": 3}
    run = play(trial(workers=workers, start=start, **options), tmp_path / "run")
    check_against(run, expected(**options))
    assert len(run.values()) == 3
    assert all(len(row) == 23 and None not in row for row in run.values())


@pytest.mark.parametrize(
    ("groups", "workers", "start"), [(7, 2, "fork"), (2, 5, "inline"), (23, 3, "inline")]
)
def test_groups_over_workers(groups: int, workers: int, start: str, tmp_path: Path) -> None:
    options = {"size": 23, "act": "talks", "rounds": 3, "groups": groups}
    run = play(trial(workers=workers, start=start, **options), tmp_path / "run")
    check_against(run, expected(**options))
    rows = run.query("SELECT round, grp, n_answered FROM rounds WHERE grp >= 0")
    assert len(rows) == 3 * groups
    assert sum(n for *_, n in rows) == 3 * 23


@pytest.mark.parametrize("start", STARTS)
def test_asyncio_things_in_agents(start: str, tmp_path: Path) -> None:
    run = play(trial(7, 2, start=start, act="awaits", rounds=2), tmp_path / "run")
    assert run.finished.state == "done", run.finished
    assert all(value is not None for row in run.values() for value in row)
    assert run.query("SELECT count(*) FROM replies") == [(2 * 7 * 2,)]


def test_more_workers_than_agents(tmp_path: Path) -> None:
    options = {"size": 2, "act": "talks", "rounds": 2}
    run = play(trial(workers=5, start="inline", **options), tmp_path / "run")
    check_against(run, expected(**options))


def test_a_window_of_one(tmp_path: Path) -> None:
    options = {"size": 9, "act": "talks", "rounds": 2}
    run = play(trial(workers=2, start="inline", engine={"window": 1}, **options), tmp_path / "run")
    check_against(run, expected(**options))


def test_what_a_run_tells(tmp_path: Path) -> None:
    run = play(trial(6, 2, rounds=2), tmp_path / "run")
    assert (run.finished.exit_code, run.finished.what) == (0, "")
    for number, report in enumerate(run.reports, start=1):
        assert (report.round, report.n_agents, report.n_answered) == (number, 6, 6)
        assert (report.n_excluded, report.n_failed) == (0, 0)
        split = report.split
        parts = split.model_s + split.agents_s + split.messages_s + split.idle_s
        assert parts == pytest.approx(report.seconds, abs=0.05)
        assert report.cpu_s > 0
    assert run.query("SELECT round, n_answered FROM rounds_overall") == [(1, 6), (2, 6)]
    assert run.query("SELECT kind FROM events") == [("started",), ("done",)]

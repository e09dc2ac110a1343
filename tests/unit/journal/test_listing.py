"""A run at a glance: its state, how far it is, what it used; and what is no run."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import JournalError, UsageError
from engine.journal.batch import JournalBatch
from engine.journal.listing import DIED, is_run, look_at, run_folders
from engine.journal.lock import Lock
from engine.journal.run_directory import RunDirectory
from tests.fakes.journal import ended, reply
from tests.fakes.run_directories import STARTED, make_run

REPLIES = [reply(1, 0), reply(1, 1), reply(2, 0), reply(2, 1), reply(2, 1, 1), reply(2, 2, model=2)]


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    groups = [ended(1), ended(1, grp=0), ended(2, grp=0)]
    return make_run(tmp_path / "run", JournalBatch(REPLIES), groups, agents=4, rounds=3)


def change(run: RunDirectory, sql: str) -> None:
    with closing(sqlite3.connect(run.run_file)) as connection, connection:
        connection.execute(sql)


def test_progress_is_the_round_and_the_share_of_agents_that_have_a_reply_in_it(run: RunDirectory) -> None:
    progress = look_at(run).progress
    assert (progress.agents, progress.rounds, progress.rounds_done, progress.share) == (4, 3, 1, 0.75)


def test_a_run_that_is_through_has_no_share(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", ends=[ended(1), ended(2)])
    assert (look_at(run).progress.rounds_done, look_at(run).progress.share) == (2, None)


@pytest.mark.parametrize("state", ["done", "failed", "interrupted", "branched"])
def test_the_state_is_that_of_the_manifest(tmp_path: Path, state: str) -> None:
    glance = look_at(make_run(tmp_path / "run", state=state))
    assert (glance.state, glance.pid, glance.resumable) == (state, None, state != "done")
    assert glance.started == glance.last_sign == STARTED


def test_a_run_that_nobody_runs_has_died_and_last_wrote_when_its_files_say(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", state="running", ended=None)
    for path in run.path.iterdir():
        os.utime(path, (STARTED.timestamp() + 60, STARTED.timestamp() + 60))
    glance = look_at(run)
    assert (glance.state, glance.resumable) == (DIED, True)
    assert (glance.last_sign - STARTED).total_seconds() == 60


@pytest.mark.parametrize("state", ["running", "failed"])
def test_a_run_whose_lock_is_held_is_running_whatever_its_manifest_says(tmp_path: Path, state: str) -> None:
    run = make_run(tmp_path / "run", state=state)
    lock = Lock(run.lock)
    assert (look_at(run).state, look_at(run).pid, look_at(run).resumable) == ("running", os.getpid(), False)
    lock.release()


def test_a_run_that_has_just_begun_has_no_file_yet(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", state="running", ended=None)
    run.run_file.write_bytes(b"")
    with pytest.raises(JournalError, match="nothing has been written"):
        look_at(run)
    lock = Lock(run.lock)
    assert look_at(run).progress.agents is None
    lock.release()


def test_usage_is_told_by_model_with_its_cost(run: RunDirectory) -> None:
    change(run, "UPDATE models SET price_in = 1e5, price_out = 1e6, price_cached = 0, currency = 'EUR'")
    first, second = look_at(run).progress.usage
    assert (first.model, first.calls, first.tokens_in, first.tokens_out) == ("default", 5, 50, 10)
    assert (first.cost, first.currency) == (pytest.approx((50 - 40) * 0.1 + 10 * 1.0), "EUR")
    assert (second.model, second.calls, second.cost) == ("unknown", 1, None)


def test_models_are_named_where_there_are_several(run: RunDirectory) -> None:
    assert look_at(run).progress.models == ["dummy"]
    change(run, "INSERT INTO models (id, name, backend) VALUES (2, 'thinker', 'policy')")
    assert look_at(run).progress.models == ["default: dummy", "thinker: policy"]


def test_size_is_that_of_all_files(run: RunDirectory) -> None:
    (run.path / "more").write_bytes(b"x" * 5_000_000)
    assert 5_000_000 < look_at(run).bytes < 6_000_000


def test_looking_changes_nothing(run: RunDirectory) -> None:
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in run.path.iterdir()}
    look_at(run)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in run.path.iterdir()} == before


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda run: run.manifest.unlink(), "there is no manifest"),
        (lambda run: run.manifest.write_text("{"), "not a manifest of simtui"),
        (
            lambda run: run.manifest.write_text(run.manifest.read_text().replace("2026-", "2O26-")),
            "no such time",
        ),
        (lambda run: run.run_file.unlink(), "there is no run file"),
        (lambda run: run.run_file.write_bytes(run.run_file.read_bytes()[:5000]), "cannot be read"),
        (lambda run: change(run, "UPDATE meta SET value = 'four' WHERE key = 'agents'"), "cannot be read"),
        (lambda run: change(run, "UPDATE meta SET value = '[]]' WHERE key = 'usage'"), "cannot be read"),
        (lambda run: change(run, "UPDATE models SET name = x'00'"), "cannot be read"),
        (lambda run: change(run, "PRAGMA user_version = 99"), "schema 99"),
    ],
)
def test_what_is_broken_is_told(run: RunDirectory, spoil: object, told: str) -> None:
    spoil(run)  # type: ignore[operator]
    with pytest.raises(JournalError, match=told):
        look_at(run)


def test_a_folder_without_any_of_the_files_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="not a run directory"):
        look_at(RunDirectory(tmp_path))
    assert not any(map(is_run, (tmp_path / "none", tmp_path / ("x" * 300))))
    (tmp_path / "run.db").touch()
    assert is_run(tmp_path)


def test_folders_in_a_folder_are_told_in_order_and_files_are_not(tmp_path: Path) -> None:
    make_run(tmp_path / "b")
    (tmp_path / "a").mkdir()
    (tmp_path / "c").touch()
    assert [path.name for path in run_folders(tmp_path)] == ["a", "b"]
    assert list(run_folders(tmp_path / "b")) == [tmp_path / "b"]


@pytest.mark.parametrize("name", ["none", "file"])
def test_what_cannot_be_listed_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be listed"):
        list(run_folders(tmp_path / name))


def test_times_are_those_of_the_manifest(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", started="2026-03-01T10:00:00+02:00", ended="2026-03-01T09:00:00+00:00")
    assert look_at(run).started == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert look_at(run).last_sign == datetime(2026, 3, 1, 9, tzinfo=UTC)

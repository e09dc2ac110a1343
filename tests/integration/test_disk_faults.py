"""Runs on disks that fill up or cannot be written: a clear end, and what is there stays readable."""

import subprocess
from pathlib import Path

import pytest

from engine.client import start
from engine.errors import UsageError
from engine.preset.write import to_toml
from tests.fakes.disks import small_disk
from tests.fakes.runs import play, trial

pytestmark = pytest.mark.usefixtures("trial_scenario")


@pytest.mark.parametrize("how", ["fork", "inline"])
def test_a_disk_that_fills_up_ends_the_run_and_keeps_what_is_there(how: str, tmp_path: Path) -> None:
    """Each reply keeps 64 KB of text; the disk has room for some 60 of them."""
    with small_disk(tmp_path / "disk", 4_000) as disk:
        preset = trial(20, 2, start=how, policy="megabyte", rounds=50, answers={"retries": 0})
        run = play(preset, disk / "run")
        assert (run.finished.state, run.finished.exit_code) == ("failed", 1)
        assert "the journal cannot be written" in run.finished.what
        assert "disk is full" in run.finished.what
        assert run.finished.where == str(disk / "run" / "run.db")
        assert "Free space there" in run.finished.hint
        assert run.query("PRAGMA integrity_check") == [("ok",)]
        assert run.query("SELECT count(*) >= 20 FROM replies") == [(1,)]
        assert run.query("SELECT round, n_excluded FROM rounds_overall WHERE round = 1") == [(1, 20)]


@pytest.mark.parametrize("free_kib", [4, 8, 32])
def test_a_disk_that_is_nearly_full_at_the_start(free_kib: int, tmp_path: Path) -> None:
    """Whichever file is the first that does not fit, the run ends with a message and leaves no process."""
    with small_disk(tmp_path / "disk", 256) as disk:
        (disk / "ballast").write_bytes(b"x" * 1024 * (256 - free_kib))
        try:
            finished = play(trial(4, 2), disk / "run").finished
        except UsageError as error:
            what = error.what
        else:
            what = finished.what
            assert (finished.state, finished.exit_code) == ("failed", 1)
        assert any(cause in what for cause in ("full", "No space left", "disk I/O error"))
        assert "Traceback" not in what


def test_a_directory_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 256) as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(UsageError, match="cannot write into the run directory") as caught:
            start(trial(2, 1), to_toml(trial(2, 1)), disk)
        assert caught.value.where == str(disk)


@pytest.mark.parametrize("what", ["nothing", "a file"])
def test_a_directory_that_is_none_is_refused(what: str, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    if what == "a file":
        directory.touch()
    with pytest.raises(UsageError, match="cannot write into the run directory"):
        start(trial(2, 1), to_toml(trial(2, 1)), directory)


def test_two_runs_never_write_one_directory(tmp_path: Path) -> None:
    """The second would mix its rows with those of the first."""
    first = play(trial(2, 1, rounds=1), tmp_path / "run")
    second = play(trial(2, 1, rounds=1), tmp_path / "run")
    assert first.finished.state == "done"
    assert second.finished.state == "failed", "it must not write into the finished run's file"

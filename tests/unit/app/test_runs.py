"""Which runs can be taken up again, and with what changed."""

from pathlib import Path

import pytest

from app import runs
from engine.errors import JournalError, UsageError
from engine.journal.lock import Lock
from engine.journal.run_directory import RunDirectory
from tests.fakes.run_directories import make_run


def stopped(tmp_path: Path) -> RunDirectory:
    return make_run(tmp_path / "run", state="interrupted")


def test_what_does_not_change_the_agents_may_change(tmp_path: Path) -> None:
    sets = ["engine.workers=7", "budget.tokens=5000", "journal.transcripts=none"]
    loaded = runs.load_again(stopped(tmp_path), sets)
    assert loaded.preset.engine.workers == 7
    assert loaded.preset.budget.tokens == 5000
    assert loaded.preset.journal.transcripts == "none"
    assert "workers = 7" in loaded.toml


@pytest.mark.parametrize(
    ("assignment", "table"),
    [
        ("scenario.rounds=9", "scenario"),
        ("population.size=9", "population"),
        ("model.latency_s=9", "model"),
        ("answers.retries=9", "answers"),
        ("seed=9", "seed"),
    ],
)
def test_what_would_make_it_another_run_is_refused_by_name(
    tmp_path: Path, assignment: str, table: str
) -> None:
    with pytest.raises(UsageError, match=rf"\[{table}\] cannot change in the middle of a run") as caught:
        runs.load_again(stopped(tmp_path), [assignment])
    assert caught.value.where == "--set"
    assert "engine and budget and journal" in caught.value.hint


def test_setting_what_is_set_already_is_no_change(tmp_path: Path) -> None:
    assert runs.load_again(stopped(tmp_path), ["scenario.rounds=2", "seed=1"])


def test_a_live_run_is_refused_and_named(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    lock = Lock(run.lock)
    with pytest.raises(UsageError, match=r"process \d+ is running this run"):
        runs.load_again(run, [])
    lock.release()
    assert runs.load_again(run, [])


def test_a_run_that_is_done_is_told_so_and_what_else_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="this run is done") as caught:
        runs.load_again(make_run(tmp_path / "run"), [])
    assert "simtui show" in caught.value.hint
    assert "simtui branch" in caught.value.hint


@pytest.mark.parametrize("missing", ["run.db", "manifest.json", "preset.toml"])
def test_half_a_run_is_refused_by_what_it_lacks(tmp_path: Path, missing: str) -> None:
    run = stopped(tmp_path)
    (run.path / missing).unlink()
    with pytest.raises((JournalError, UsageError)) as caught:
        runs.load_again(run, [])
    assert missing in caught.value.where


def test_a_run_is_found_by_folder_file_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = stopped(tmp_path)
    monkeypatch.setattr(runs, "default_parent", lambda: tmp_path)
    for name in (str(run.path), str(run.run_file), "run"):
        assert runs.find_run(name) == run
    assert runs.name_of(run) == "run"
    for name in ("ran", str(run.preset), str(tmp_path)):
        with pytest.raises(UsageError, match="there is no such run"):
            runs.find_run(name)


def test_a_repetition_keeps_no_texts(tmp_path: Path) -> None:
    assert 'transcripts = "none"' in runs.for_scratch(stopped(tmp_path)).toml

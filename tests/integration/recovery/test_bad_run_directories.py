"""`simtui --resume` of what is no run to go on with: refused by name, with a way out, and left as it is."""

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.journal.version import SCHEMA_VERSION
from tests.fakes.disks import small_disk
from tests.fakes.packages import known
from tests.fakes.runs import Run, trial

MAIN = "from app.main import main; main()"


@pytest.fixture(scope="module", autouse=True)
def trial_is_known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with known(tmp_path_factory.mktemp("packages"), {"trial": "tests.fakes.trial:Trial"}):
        yield


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory, trial_is_known: None) -> Path:
    """A run that was stopped in its second round."""
    run = Run(trial(4, 2, act="holds", when=2, rounds=3), tmp_path_factory.mktemp("half") / "run")
    run.until_round(1)
    run.client.stop("the test says so")
    run.to_the_end()
    run.check_that_nothing_is_left()
    return run.directory


@pytest.fixture
def copy(half: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(half, tmp_path / "run"))


def simtui(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", MAIN, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "run.lock"}


def sql(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "run.db")) as db:
        db.execute(statement)


def of_another_program(folder: Path) -> None:
    (folder / "run.db").unlink()
    sql(folder, "CREATE TABLE cats (name)")


def of_a_newer_schema(folder: Path) -> None:
    sql(folder, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def half_copied(folder: Path) -> None:
    whole = (folder / "run.db").read_bytes()
    (folder / "run.db").write_bytes(whole[: len(whole) // 2 + 100])


def cut_off(folder: Path) -> None:
    (folder / "run.db").write_bytes((folder / "run.db").read_bytes()[:-100])


def without_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


def without_preset(folder: Path) -> None:
    (folder / "preset.toml").unlink()


def without_database(folder: Path) -> None:
    (folder / "run.db").unlink()


def with_another_preset(folder: Path) -> None:
    preset = folder / "preset.toml"
    preset.write_text(re.sub(r"(?m)^rounds = 3$", "rounds = 5", preset.read_text()))


def with_half_a_preset(folder: Path) -> None:
    preset = folder / "preset.toml"
    preset.write_text(preset.read_text()[:-40] + "[[[")


def of_another_scenario(folder: Path) -> None:
    preset = folder / "preset.toml"
    preset.write_text(preset.read_text().replace('"trial"', '"gone"'))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (of_another_program, "not a run file of simtui"),
        (of_a_newer_schema, f"has schema {SCHEMA_VERSION + 1}"),
        (half_copied, "malformed"),
        (cut_off, "is cut off after"),
        (without_manifest, "manifest"),
        (without_preset, "preset.toml"),
        (without_database, "run.db"),
        (with_another_preset, "not the preset that the run was made with"),
        (with_half_a_preset, "preset.toml"),
        (of_another_scenario, "preset.toml"),
    ],
)
def test_it_is_refused_and_left_as_it_is(copy: Path, spoil: Callable[[Path], None], said: str) -> None:
    spoil(copy)
    before = content(copy)
    done = simtui("--resume", str(copy))
    assert done.returncode in (1, 2)
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stdout + done.stderr
    assert content(copy) == before


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear reader")
    done = simtui("--resume", str(tmp_path))
    assert done.returncode == 2
    assert "there is no such run" in done.stderr


def test_a_read_only_one(half: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 4_000) as disk:
        shutil.copytree(half, disk / "run")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = simtui("--resume", str(disk / "run"), "--set", "engine.workers=1")
        assert done.returncode in (1, 2)
        assert "ead-only" in done.stderr
        assert "Traceback" not in done.stderr
        assert simtui("show", str(disk / "run")).returncode == 0


def test_of_two_that_go_on_at_once_one_is_refused_and_told_of_the_other(copy: Path) -> None:
    preset = trial(4, 2, rounds=3)
    first = Run(trial(4, 2, act="holds", when=2, rounds=3), copy, resumed=True)
    first.until_round(1)
    second = Run(preset, copy, resumed=True)
    last_word = second.to_the_end()
    assert (last_word.state, last_word.what) == (
        "failed",
        f"process {first.coordinator.pid} is running this run",
    )
    assert f"kill -INT {first.coordinator.pid}" in last_word.hint
    told = simtui("--resume", str(copy))
    assert told.returncode == 2
    assert f"process {first.coordinator.pid} is running this run" in " ".join(told.stderr.split())
    first.client.stop("the test says so")
    assert first.to_the_end().state == "interrupted"
    first.check_that_nothing_is_left()

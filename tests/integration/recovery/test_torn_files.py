"""Run files that end anywhere in their tail, disks that fill up, clocks that jump, and what comes of the run.

BYTES=all pytest tests/integration/recovery/test_torn_files.py
"""

import os
import shutil
from pathlib import Path
from random import Random

import pytest

from engine.errors import JournalError
from engine.journal.reader import Reader
from engine.models.settings import Policy
from engine.preset.schema import Engine, Journal, Population, Preset
from tests.fakes.improvise import CoupledSettings
from tests.fakes.journals import WHATEVER_THE_TURNS, content, differences, keys
from tests.fakes.stage import Stage

EVERY_BYTE = os.environ.get("BYTES") == "all"
FRAME = 4096 + 24
"""A page in the WAL, with its header."""
PRESET = Preset(
    name="torn",
    scenario=CoupledSettings(plan=5, rounds=4, most=8, raising=0.0, asking=0.2),
    population=Population(size=9),
    model=Policy(policy="echo"),
    journal=Journal(snapshot_every=1),
    engine=Engine(workers=2, failure_budget=1.0),
)


def folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run, undisturbed."""
    path = tmp_path_factory.mktemp("quiet")
    Stage(PRESET, path, Random(1)).play()
    return path


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Database and WAL as a machine that loses power in the middle of a run leaves them."""
    path = tmp_path_factory.mktemp("torn")
    stage = Stage(PRESET, folder(path / "run"), Random(2)).go_on(150)
    assert not stage.is_over
    for name in ("run.db", "run.db-wal"):
        shutil.copyfile(path / "run" / name, path / name)
    stage.kill()
    return path


def lengths(size: int, unit: int, most: int) -> list[int]:
    """Return lengths to which a file is cut: all within its last units, or a sample of more."""
    if EVERY_BYTE:
        return list(range(size - 3 * unit, size))
    dice, ends = Random(most), range(size - unit, max(0, size - most * unit) - 1, -unit)
    return sorted({*dice.sample(range(ends[-1], size), 25), *(end + dice.choice([-1, 0, 1]) for end in ends)})


def check_that_it_ends_as_undisturbed(path: Path, quiet: Path, seed: int) -> None:
    known = keys(path / "run.db")
    again = Stage(PRESET, path, Random(seed), resumed=True).play()
    assert known.isdisjoint(again.asked)
    assert differences(*(content(run / "run.db", WHATEVER_THE_TURNS) for run in (quiet, path))) == []


@pytest.mark.timeout(7200 if EVERY_BYTE else 120)
def test_a_wal_that_is_cut_anywhere_loses_what_comes_after(torn: Path, quiet: Path, tmp_path: Path) -> None:
    size = (torn / "run.db-wal").stat().st_size
    found = set()
    for length in lengths(size, FRAME, 40):
        path = folder(tmp_path / f"{length}")
        shutil.copyfile(torn / "run.db", path / "run.db")
        (path / "run.db-wal").write_bytes((torn / "run.db-wal").read_bytes()[:length])
        found.add(len(keys(path / "run.db")))
        check_that_it_ends_as_undisturbed(path, quiet, length)
        shutil.rmtree(path)
    assert EVERY_BYTE or len(found) > 1, "no cut has lost anything"


@pytest.mark.timeout(7200 if EVERY_BYTE else 120)
def test_a_database_that_is_cut_anywhere_is_refused(quiet: Path, tmp_path: Path) -> None:
    """Without a WAL nothing can mend it, and to go on from half of it would be wrong."""
    whole = (quiet / "run.db").read_bytes()
    for length in lengths(len(whole), 4096, 2):
        path = folder(tmp_path / f"{length}")
        (path / "run.db").write_bytes(whole[:length])
        with pytest.raises(JournalError) as caught:
            Stage(PRESET, path, Random(1), resumed=True)
        assert caught.value.where == str(path / "run.db")
        with pytest.raises(JournalError), Reader(path / "run.db") as reader:
            reader.rounds()
        shutil.rmtree(path)


@pytest.mark.parametrize("seed", range(5))
def test_a_disk_that_fills_up_in_the_middle(seed: int, quiet: Path, tmp_path: Path) -> None:
    """SQLite itself limits the file, as a disk does, at any moment; with room again the run goes on."""
    path, dice = folder(tmp_path / "run"), Random(seed)
    stage = Stage(PRESET, path, dice).go_on(dice.randrange(20, 150))
    database = stage.files.writer._db
    database.execute(f"PRAGMA max_page_count = {database.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(JournalError, match="disk is full"):
        stage.go_on()
    stage.kill()
    check_that_it_ends_as_undisturbed(path, quiet, seed)


@pytest.mark.parametrize("seed", range(5))
def test_a_clock_that_jumps_changes_nothing_but_dates(seed: int, quiet: Path, tmp_path: Path) -> None:
    """Years back and forth, at each look, over a resume; only what dates looks at it."""
    dice = Random(seed)
    path = folder(tmp_path / "run")
    jumps = {"now": lambda: dice.choice([0.0, -1e9, 1e9, 4e9]) + dice.random()}
    Stage(PRESET, path, Random(seed), **jumps).go_on(dice.randrange(20, 150)).kill()
    Stage(PRESET, path, Random(seed), resumed=True, **jumps).play()
    assert differences(*(content(run / "run.db", WHATEVER_THE_TURNS) for run in (quiet, path))) == []
    with Reader(path / "run.db") as reader:
        assert all(ended.seconds >= 0 for ended in reader.rounds())

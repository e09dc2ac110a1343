from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from app import run_directory
from engine.errors import UsageError
from engine.models.settings import Dummy
from engine.preset.schema import Journal, Population, Preset
from engine.scenarios.guess_average import GuessAverageSettings

NOON = datetime(2025, 1, 2, 12, 0, 0)


def preset(folder: Path, name: str = "game") -> Preset:
    return Preset(
        name=name,
        scenario=GuessAverageSettings(),
        population=Population(size=1),
        model=Dummy(),
        journal=Journal(directory=str(folder)),
    )


def test_two_runs_of_one_second_get_two_directories(tmp_path: Path) -> None:
    names = [run_directory.claim(preset(tmp_path / "runs"), None, NOON) for _ in range(3)]
    assert [path.name for path in names] == [
        "game-20250102-120000",
        "game-20250102-120000-2",
        "game-20250102-120000-3",
    ]
    assert all(path.is_dir() and path.is_absolute() for path in names)


@pytest.mark.parametrize(
    ("name", "stem"), [("../../etc/x y", "etc-x-y"), ("\x1b[2J", "-2J"), ("..", "run"), ("ü" * 300, "run")]
)
def test_a_preset_name_cannot_lead_elsewhere(tmp_path: Path, name: str, stem: str) -> None:
    path = run_directory.claim(preset(tmp_path, name), None, NOON)
    assert path.parent == tmp_path
    assert path.name.removesuffix("-20250102-120000") == stem.strip("-.")


def test_without_a_folder_in_the_preset_it_is_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    given = msgspec.structs.replace(preset(tmp_path), journal=Journal())
    assert run_directory.claim(given, None, NOON).parent == tmp_path / "simtui" / "runs"


def test_out_is_the_directory_itself_and_must_be_new(tmp_path: Path) -> None:
    wanted = str(tmp_path / "deep" / "mine")
    assert run_directory.claim(preset(tmp_path), wanted, NOON) == Path(wanted)
    with pytest.raises(UsageError, match="exists already") as raised:
        run_directory.claim(preset(tmp_path), wanted, NOON)
    assert raised.value.where == wanted
    assert "--out" in raised.value.hint


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in ("file/run", "file/deep/run", "nul\0", "x" * 300):
        with pytest.raises(UsageError, match="cannot be made") as raised:
            run_directory.claim(preset(tmp_path), str(tmp_path / out), NOON)
        assert raised.value.where == str(tmp_path / out)


def test_only_an_empty_directory_is_given_back(tmp_path: Path) -> None:
    path = run_directory.claim(preset(tmp_path), None, NOON)
    (path / "log").write_text("x")
    assert not run_directory.released(path)
    (path / "log").unlink()
    assert run_directory.released(path)
    assert not path.exists()

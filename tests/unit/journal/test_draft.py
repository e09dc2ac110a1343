"""A file is there when it is whole, or not at all."""

from pathlib import Path

import pytest

from engine.errors import SimtuiError, UsageError
from engine.journal.draft import draft


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_appears_at_the_end(tmp_path: Path) -> None:
    with draft(tmp_path / "out.csv", force=False) as file:
        file.write(b"x")
        assert "out.csv" not in names(tmp_path)
    assert (tmp_path / "out.csv").read_bytes() == b"x"
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_stays_behind_when_it_fails(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), draft(tmp_path / "out.csv", force=False) as file:
        raise error(file.write(b"x"))
    assert names(tmp_path) == []


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("mine")
    with pytest.raises(UsageError, match="already") as caught, draft(path, force=False):
        pytest.fail("it must not begin")
    assert "--force" in caught.value.hint
    assert path.read_text() == "mine"


def test_a_file_that_came_meanwhile_stays_too(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with pytest.raises(UsageError, match="already"), draft(path, force=False):
        path.write_text("mine")
    assert path.read_text() == "mine"
    assert names(tmp_path) == ["out.csv"]


def test_a_file_is_replaced_by_force_when_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("mine")
    with pytest.raises(ValueError, match="no"), draft(path, force=True):
        raise ValueError("no")
    assert path.read_text() == "mine"
    with draft(path, force=True) as file:
        file.write(b"new")
    assert path.read_text() == "new"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none/out.csv", "No such file"),
        ("x" * 300, "File name too long"),
        ("file/out.csv", "Not a directory"),
    ],
)
def test_what_the_disk_refuses_is_told(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SimtuiError, match=told) as caught, draft(tmp_path / name, force=False):
        pytest.fail("it must not begin")
    assert caught.value.where == str(tmp_path / name)


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"), draft(tmp_path, force=True):
        pytest.fail("it must not begin")

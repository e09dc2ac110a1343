from datetime import datetime
from pathlib import Path

import pytest

from app import crash


def failure() -> ValueError:
    try:
        raise ValueError("odd \x1b[2J")
    except ValueError as error:
        return error


def test_one_line_names_the_error_and_the_file_with_the_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    line = crash.report(failure(), datetime(2025, 1, 2))
    assert "\n" not in line
    assert r"ValueError: odd \x1b[2J" in line
    (written,) = tmp_path.rglob("simtui-error-20250102-*.txt")
    assert str(written) in line
    assert "in failure" in written.read_text()


def test_the_temporary_folder_is_the_second_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert str(tmp_path / "simtui-error") in crash.report(failure(), datetime(2025, 1, 2))


def test_it_says_so_when_no_file_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    assert "could not be written" in crash.report(failure(), datetime(2025, 1, 2))

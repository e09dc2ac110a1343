"""Each run has a directory of its own, whatever the preset is called and wherever it should go."""

import os
import stat
from collections.abc import Callable
from datetime import datetime
from itertools import chain, repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UsageError
from engine.journal.run_directory import _file_name, claim_run_directory, create_run_directory

NOW = datetime(2026, 3, 1, 9, 5, 7)


def test_it_is_named_after_preset_and_time(tmp_path: Path) -> None:
    run = create_run_directory(tmp_path / "runs", "demo", NOW, lambda: "0af3")
    assert run.path == tmp_path / "runs" / "demo-20260301-090507-0af3"
    assert stat.S_IMODE(run.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "runs").stat().st_mode) == 0o700


def test_files_lie_inside(tmp_path: Path) -> None:
    run = create_run_directory(tmp_path, "demo", NOW)
    files = (run.preset, run.run_file, run.manifest, run.log, run.stderr)
    assert {file.parent for file in files} == {run.path}
    assert [file.name for file in files] == [
        "preset.toml",
        "run.db",
        "manifest.json",
        "run.log",
        "stderr.log",
    ]


def test_a_name_that_is_taken_is_passed_over(tmp_path: Path) -> None:
    suffixes = chain(repeat("aaaa", 3), repeat("bbbb"))
    paths = [create_run_directory(tmp_path, "demo", NOW, suffixes.__next__).path for _ in range(2)]
    assert [path.name[-4:] for path in paths] == ["aaaa", "bbbb"]


def test_giving_up_when_every_name_is_taken(tmp_path: Path) -> None:
    create_run_directory(tmp_path, "demo", NOW, lambda: "aaaa")
    with pytest.raises(UsageError, match="20 runs have started in this second already"):
        create_run_directory(tmp_path, "demo", NOW, lambda: "aaaa")


@given(st.text())
def test_any_preset_name_makes_one_file_name(name: str) -> None:
    made = _file_name(name)
    assert Path(made).name == made
    assert made not in (".", "..")
    assert made.isascii()
    assert 1 <= len(made) <= 60


@pytest.mark.parametrize(
    ("name", "expected"),
    [("../../etc", "etc"), ("a b/c", "a-b-c"), ("...", "run"), ("日本", "run"), ("x" * 99, "x" * 60)],
)
def test_names_are_tamed(name: str, expected: str) -> None:
    assert _file_name(name) == expected


def test_a_claimed_directory_is_made(tmp_path: Path) -> None:
    run = claim_run_directory(tmp_path / "a" / "b")
    assert run.path == tmp_path / "a" / "b"
    assert stat.S_IMODE(run.path.stat().st_mode) == 0o700
    assert run.run_file.exists()


def test_an_empty_folder_may_be_claimed_once(tmp_path: Path) -> None:
    claim_run_directory(tmp_path)
    with pytest.raises(UsageError, match="the folder is not empty") as caught:
        claim_run_directory(tmp_path)
    assert caught.value.where == str(tmp_path)
    assert "--out" in caught.value.hint


def test_of_two_that_find_it_empty_one_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim_run_directory(tmp_path)
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(()))
    with pytest.raises(UsageError, match="another run has it"):
        claim_run_directory(tmp_path)


def a_file(path: Path) -> Path:
    path.touch()
    return path


def a_dangling_link(path: Path) -> Path:
    path.symlink_to(path / "nowhere")
    return path


@pytest.mark.parametrize(
    "make", [a_file, a_dangling_link, lambda path: a_file(path) / "below", lambda path: path / "\0"]
)
def test_what_cannot_be_a_folder(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path / "thing")
    with pytest.raises(UsageError, match="cannot make a run directory: "):
        claim_run_directory(path)
    with pytest.raises(UsageError, match="cannot make a run directory: "):
        create_run_directory(path, "demo", NOW)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot make a run directory: Permission denied"):
        create_run_directory(tmp_path / "runs", "demo", NOW)


def test_a_refusal_says_why_without_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "some/path")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(UsageError) as caught:
        create_run_directory(tmp_path, "demo", NOW)
    assert caught.value.what == "cannot make a run directory: Permission denied"

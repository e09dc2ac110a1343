"""Folders of sockets: private, short, and swept up when their run is dead."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cluster.endpoints import PREFIX, Endpoints, new_folder


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def dead_pid() -> int:
    """Return the id of a process that has ended."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_a_folder_is_the_users_own(parent: Path) -> None:
    folder = Path(new_folder())
    assert folder.parent == parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder != Path(new_folder())


def test_a_runtime_directory_that_is_not_there_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "gone"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert Path(new_folder()).parent == tmp_path


def test_folders_of_dead_runs_are_swept_up(parent: Path) -> None:
    dead = parent / f"{PREFIX}{dead_pid()}-abc"
    dead.mkdir()
    (dead / "control").touch()
    alive = parent / f"{PREFIX}{os.getpid()}-abc"
    alive.mkdir()
    for name in ("simtui-notes-of-mine", "simtui-", "simtui-12x-y", "other"):
        (parent / name).mkdir()
    new_folder()
    assert not dead.exists()
    assert alive.exists()
    assert all((parent / name).exists() for name in ("simtui-notes-of-mine", "simtui-", "simtui-12x-y"))


def test_a_folder_that_vanishes_while_it_is_looked_at_does_no_harm(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs that start at once sweep the same folders."""
    (parent / f"{PREFIX}{dead_pid()}-abc").mkdir()
    real = Path.glob

    def glob(self: Path, pattern: str) -> list[Path]:
        return [*real(self, pattern), self / f"{PREFIX}{dead_pid()}-gone"]

    monkeypatch.setattr(Path, "glob", glob)
    assert Path(new_folder()).is_dir()


def test_removing_twice_does_no_harm(parent: Path) -> None:
    endpoints = Endpoints.in_folder(new_folder())
    Path(endpoints.folder, "control").touch()
    endpoints.remove()
    endpoints.remove()
    assert not Path(endpoints.folder).exists()


def test_every_process_has_an_address_of_its_own() -> None:
    endpoints = Endpoints.in_folder("/run/x")
    addresses = [
        endpoints.control,
        endpoints.coordinator,
        endpoints.model("default"),
        endpoints.model("other"),
        endpoints.worker(0),
        endpoints.worker(1),
    ]
    assert len(set(addresses)) == 6
    assert all(address.startswith("ipc:///run/x/") for address in addresses)

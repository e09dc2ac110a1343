"""Where the processes of a run meet: one private folder of sockets, or names inside one process."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

PREFIX = "simtui-"


@dataclass(frozen=True)
class Endpoints:
    """ZeroMQ addresses of a run; `base` ends where a name is to be appended."""

    base: str
    folder: str
    """The folder that holds the sockets."""

    @classmethod
    def in_folder(cls, folder: str) -> Endpoints:
        """Sockets between processes of this host."""
        return cls(f"ipc://{folder}/", folder)

    @property
    def control(self) -> str:
        """Where the coordinator answers clients; a socket between processes in every mode."""
        return f"ipc://{self.folder}/control"

    @property
    def coordinator(self) -> str:
        """Where workers and services report to."""
        return f"{self.base}coordinator"

    def model(self, name: str) -> str:
        """Where a model service takes requests."""
        return f"{self.base}model-{name}"

    def worker(self, name: str) -> str:
        """Where a worker takes mail from other workers."""
        return f"{self.base}{name}"

    def remove(self) -> None:
        """Delete the sockets; whoever notices last that the run is over does it, and twice does no harm."""
        shutil.rmtree(self.folder, ignore_errors=True)


def new_folder() -> str:
    """Make a folder for sockets that only this user can enter, and sweep up those of dead runs."""
    parent = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    if not os.access(parent, os.W_OK):
        parent = Path(tempfile.gettempdir())
    _sweep(parent)
    return tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent)


def _sweep(parent: Path) -> None:
    """Remove folders whose process is gone: left only if every process of a run was killed at once."""
    for folder in parent.glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not pid.isdigit() or psutil.pid_exists(int(pid)):
            continue
        with suppress(FileNotFoundError):  # another run that starts just now may sweep, too
            if folder.stat().st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)

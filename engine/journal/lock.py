"""One writer a run directory: a lock that the operating system drops with the process that holds it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from engine.errors import JournalError

ATTEMPTS = 5
PAUSE_S = 0.02
"""Whoever asks for the holder holds the lock for some microseconds."""


HOW_TO_GO_ON = "`simtui show` reads it meanwhile. Wait for its end, or stop it and keep all: kill -INT {pid}"


class Lock:
    """Held from creation to `release`, or to the end of the process."""

    def __init__(self, path: Path, pause: Callable[[float], None] = time.sleep) -> None:
        """Take the lock. Raises JournalError if another process has it, or the file cannot be made."""
        try:
            self._file = path.open("a+")
            _take(self._file, pause)
            self._file.truncate(0)
            self._file.write(str(os.getpid()))
            self._file.flush()
        except BlockingIOError:
            self._file.seek(0)
            pid = self._file.read(20).strip()
            raise JournalError(
                f"process {pid or 'unknown'} is running this run",
                where=str(path.parent),
                hint=HOW_TO_GO_ON.format(pid=pid or "PID"),
            ) from None
        except OSError as error:
            raise JournalError(
                f"the run directory cannot be locked: {error.strerror}",
                where=str(path),
                hint="Free space there, or make the folder writable.",
            ) from error

    def release(self) -> None:
        """Give the run directory back."""
        self._file.close()


def holder(path: Path) -> int | None:
    """Return the process that holds a lock, 0 if its number is unknown, None if nobody does."""
    with suppress(OSError), path.open(encoding="ascii", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            number = file.read(20)
            return int(number) if number.isdigit() else 0
    return None


def _take(file: IO[str], pause: Callable[[float], None]) -> None:
    """Raise BlockingIOError if the lock does not come free."""
    for _ in range(ATTEMPTS - 1):
        with suppress(BlockingIOError):
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        pause(PAUSE_S)
    return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

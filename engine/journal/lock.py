"""One writer a run directory: a lock that the operating system drops with the process that holds it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from engine.errors import JournalError


class Lock:
    """Held from creation to `release`, or to the end of the process."""

    def __init__(self, path: Path) -> None:
        """Take the lock. Raises JournalError if another process has it, or the file cannot be made."""
        try:
            self._file = path.open("a+")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            raise JournalError(
                f"process {self._file.read(20).strip() or 'unknown'} is running this run",
                where=str(path.parent),
                hint="Wait for it to end, or stop it.",
            ) from None
        except OSError as error:
            raise JournalError(
                f"the run directory cannot be locked: {error.strerror}",
                where=str(path),
                hint="Make the folder writable.",
            ) from error
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        """Give the run directory back."""
        self._file.close()

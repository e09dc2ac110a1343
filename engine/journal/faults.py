"""What SQLite and the disk report, as errors that say what is lost, what is kept, and what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import JournalError

DAMAGED = "The file is damaged; `sqlite3 run.db .recover` saves what can be read."

_HINTS = {
    "SQLITE_FULL": 'Free space there, or keep less: [journal] transcripts = "1 in 100" or "none".',
    "SQLITE_READONLY": "Make the file and its folder writable.",
    "SQLITE_CANTOPEN": "Make sure that the file and its folder exist and that you may read and write both.",
    "SQLITE_BUSY": "Another program has locked the file; close it there.",
    "SQLITE_NOTADB": "The file was written by something else, or is damaged.",
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_ERROR": "The file lacks what this version reads: another version wrote it, or it is damaged.",
}
_OTHER_HINT = "The disk or the file system failed; the system's log may say why."


@contextmanager
def journal_faults(path: Path, doing: Callable[[], str]) -> Iterator[None]:
    """Raise JournalError for what goes wrong with the file; `doing` says what was attempted."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        # Its other subclasses (a wrong statement, a broken constraint) are mistakes in this program.
        if type(error) not in (sqlite3.DatabaseError, sqlite3.OperationalError):
            raise
        name = "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])
        raise JournalError(
            f"{doing()}: {error}", where=str(path), hint=_HINTS.get(name, _OTHER_HINT)
        ) from error

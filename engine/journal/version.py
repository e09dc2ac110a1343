"""How a run file is recognised. Apart from the schema, so that reading one does not load sqlite-utils."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from engine.errors import JournalError

APPLICATION_ID = int.from_bytes(b"simt", "big")
"""SQLite's application_id of every run file."""

SCHEMA_VERSION = 1
"""SQLite's user_version: the number of migrations in engine.journal.schema."""


def is_empty(connection: sqlite3.Connection) -> bool:
    """Tell whether a file has no tables: of this program or of any other."""
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Raise JournalError unless this version can read the file."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0 and (application == APPLICATION_ID or is_empty(connection)):
        raise JournalError(
            "nothing has been written to this run file",
            where=str(path),
            hint="The run ended before it began. Start it anew.",
        )
    if application != APPLICATION_ID:
        raise JournalError(
            "this is not a run file of simtui",
            where=str(path),
            hint="Name the file run.db of a run directory.",
        )
    if version > SCHEMA_VERSION:
        raise JournalError(
            f"the run file has schema {version}, this simtui knows schemas up to {SCHEMA_VERSION}",
            where=str(path),
            hint="Open it with the simtui that wrote it, or a later one.",
        )
    _check_size(connection, path)


def _check_size(connection: sqlite3.Connection, path: Path) -> None:
    """Raise JournalError for a file that ends inside a page: SQLite would read zeros there and say nothing.

    While a WAL lies beside it, that has the page: a checkpoint has been interrupted.
    """
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    wal = path.with_name(f"{path.name}-wal")
    if path.stat().st_size % page and not (wal.exists() and wal.stat().st_size):
        raise JournalError(
            f"the run file is cut off after {path.stat().st_size:,} bytes",
            where=str(path),
            hint="Copy it again, whole; `sqlite3 run.db .recover` saves what can be read.",
        )

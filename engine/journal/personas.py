"""Who agents are in the words of a model, looked up in the run file when an agent asks for it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from engine.journal.faults import journal_faults

COMPLETE = "report"
"""The part of the table `population` that is there once all personas are."""

_TEXT = "SELECT text FROM personas WHERE agent = ? AND written"
_IS_COMPLETE = "SELECT 1 FROM population WHERE part = ?"


class Personas:
    """Reads a run file, which each process opens for itself when it needs it. Raises JournalError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def text(self, person: int) -> str | None:
        """Return what was written of an agent; None if nothing was."""
        row = self._row(_TEXT, person)
        return row[0] if row else None

    @property
    def are_complete(self) -> bool:
        """Whether nobody's is still to be written."""
        return self._row(_IS_COMPLETE, COMPLETE) is not None

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()

    def _row(self, sql: str, parameter: object) -> tuple[str] | None:
        with journal_faults(self._path, lambda: "the run file cannot be read"):
            if self._connection is None:
                uri = f"{self._path.absolute().as_uri()}?mode=ro"
                self._connection = sqlite3.connect(uri, uri=True, timeout=30.0)
            found: tuple[str] | None = self._connection.execute(sql, (parameter,)).fetchone()
            return found

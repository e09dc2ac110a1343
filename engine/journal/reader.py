"""Reads a run file, finished or being written, without ever changing it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.errors import JournalError
from engine.journal.faults import journal_faults
from engine.journal.rounds import ALL_GROUPS, ROUND_COLUMNS, Round
from engine.journal.storable import Value
from engine.journal.version import check_version
from engine.keys import pack


class Reader:
    """The questions that a summary asks. Use as a context manager; every method may raise JournalError."""

    def __init__(self, path: Path) -> None:
        """Open a run file. Raises JournalError if there is none, or one that this version cannot read."""
        self._path = path
        if not path.is_file():
            raise JournalError(
                "there is no run file", where=str(path), hint="`simtui --run PRESET` makes one."
            )
        with self._reading():
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            try:
                check_version(self._connection, path)
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    def rounds(self, group: int = ALL_GROUPS) -> list[Round]:
        """Return the rounds of a group, or over all groups, in order."""
        sql = f"SELECT {', '.join(ROUND_COLUMNS)} FROM rounds WHERE grp = ? ORDER BY round"  # noqa: S608
        return [Round.from_row(row) for row in self._rows(sql, group)]

    def answers(self, round_: int) -> dict[Value, int]:
        """Return how often each answer was given in a round."""
        sql = "SELECT value, count(*) FROM answers WHERE key >= ? AND key < ? GROUP BY value ORDER BY value"
        return dict(self._rows(sql, pack(round_, 0), pack(round_ + 1, 0)))

    def failures(self) -> dict[str, int]:
        """Return how many replies and agents failed, by kind."""
        return dict(self._rows("SELECT kind, sum(n) FROM failure_counts GROUP BY kind ORDER BY kind"))

    def meta(self) -> dict[str, Value]:
        """Return the facts about the whole run."""
        return dict(self._rows("SELECT key, value FROM meta ORDER BY key"))

    def _rows(self, sql: str, *parameters: Any) -> list[Any]:
        with self._reading():
            return self._connection.execute(sql, parameters).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with journal_faults(self._path, lambda: "the run file cannot be read"):
            yield

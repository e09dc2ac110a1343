"""Replies that have been paid for, kept by what was asked, so that nothing is paid for twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from engine.population.faults import PopulationError

_MAKE = "CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID"
_FIND = "SELECT text FROM replies WHERE key = ?"


class Cache(Protocol):
    """Replies by key."""

    def find(self, keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return those replies that are there."""

    def keep(self, replies: Iterable[tuple[bytes, str]]) -> None:
        """Store replies for good."""


class NoCache:
    """Keeps nothing."""

    def find(self, keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return nothing."""
        return {}

    def keep(self, replies: Iterable[tuple[bytes, str]]) -> None:
        """Do nothing."""


class FileCache:
    """Replies in an SQLite file, which several runs may use at once. Raises PopulationError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path, timeout=30.0)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")  # a loss of power costs the last replies
            self._file.execute(_MAKE)
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from error

    def find(self, keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return those replies that are there."""
        try:
            rows = [(key, self._file.execute(_FIND, (key,)).fetchone()) for key in keys]
        except sqlite3.Error as error:
            raise self._error(error) from error
        return {key: row[0] for key, row in rows if row}

    def keep(self, replies: Iterable[tuple[bytes, str]]) -> None:
        """Store replies for good; of two for one key the first stays."""
        try:
            with self._file:
                self._file.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?)", replies)
        except sqlite3.Error as error:
            raise self._error(error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _error(self, error: Exception) -> PopulationError:
        return PopulationError(
            f"the cache of personas {self._path} cannot be used: {error}", "persona", "writer"
        )

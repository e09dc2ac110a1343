"""A run file opened for reading, finished or being written, without ever changing it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from engine.errors import JournalError
from engine.journal.faults import DAMAGED, journal_faults
from engine.journal.version import check_version

LOCK_WAIT_S = 10.0

Answer = TypeVar("Answer")


class RunFile:
    """Use as a context manager; every method may raise JournalError."""

    def __init__(self, path: Path) -> None:
        """Open a run file. Raises JournalError if there is none, or one that this version cannot read."""
        self.path = path
        if not os.path.isfile(path):
            raise JournalError(
                "there is no run file", where=str(path), hint="`simtui --run PRESET` makes one."
            )
        with self.reading():
            uri = f"{path.absolute().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(uri, uri=True, timeout=LOCK_WAIT_S)
            try:
                check_version(self._connection, path)
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    def rows(self, sql: str, *parameters: Any) -> list[Any]:
        """Return all rows of a query."""
        with self.reading():
            return self._connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, *parameters: Any) -> Any:
        """Return the first row of a query, None if it has none."""
        with self.reading():
            return self._connection.execute(sql, parameters).fetchone()

    def read(self, question: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Return what a function makes of the file."""
        with self.reading():
            return question(self._connection)

    def stream(self, sql: str, *parameters: Any, size: int = 1000) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Yield the rows of a query in parts of at most `size`."""
        with self.reading():
            cursor = self._connection.execute(sql, parameters)
        while True:
            with self.reading():
                part = cursor.fetchmany(size)
            if not part:
                return
            yield part

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all queries inside see the file as it was at the first, whatever is written meanwhile."""
        with self.reading():
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.rollback()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise JournalError for whatever makes the file unreadable, content of a wrong form included."""
        try:
            with journal_faults(self.path, lambda: "the run file cannot be read"):
                yield
        except msgspec.DecodeError as error:
            raise JournalError(
                f"the run file cannot be read: {error}", where=str(self.path), hint=DAMAGED
            ) from error

"""What can be read out of a run file as a whole: its tables and views, and what their columns hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.errors import UsageError
from engine.journal.run_file import RunFile

_NAMES = """
SELECT name FROM sqlite_master WHERE type IN ('table', 'view')
  AND substr(name, 1, 1) <> '_' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name"""


class Kind(StrEnum):
    """What the values of a column are, if they are not NULL."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    MIXED = "mixed"


@dataclass(frozen=True)
class Column:
    """A column of a table or view."""

    name: str
    kind: Kind


def tables(file: RunFile) -> list[str]:
    """Return the names of the tables and views of a run file. Raises JournalError."""
    return [name for (name,) in file.rows(_NAMES)]


def find_table(file: RunFile, name: str) -> str:
    """Return the name if it is that of a table or view. Raises UsageError."""
    known = tables(file)
    if name not in known:
        raise UsageError("there is no such table", where=name, hint=f"There are {', '.join(known)}.")
    return name


def column_names(file: RunFile, table: str) -> list[str]:
    """Return the names of the columns, computed ones included. Raises JournalError."""
    return [name for name, _ in _declared(file, table)]


def columns(file: RunFile, table: str) -> list[Column]:
    """Return the columns with their kinds; where none is declared, all values are looked at."""
    return [Column(name, _kind(file, table, name, declared)) for name, declared in _declared(file, table)]


def quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _declared(file: RunFile, table: str) -> list[tuple[str, str]]:
    rows: list[Any] = file.rows(f"PRAGMA table_xinfo({quoted(table)})")
    return [(row[1], row[2]) for row in rows]


def _kind(file: RunFile, table: str, column: str, declared: str) -> Kind:
    word = declared.partition(" ")[0].lower()
    if word in {kind.value for kind in Kind}:
        return Kind(word)
    sql = f"SELECT DISTINCT typeof({quoted(column)}) FROM {quoted(table)}"  # noqa: S608
    found = {kind for (kind,) in file.rows(sql)} - {"null"}
    if found <= {"integer"} and found:
        return Kind.INTEGER
    if found <= {"integer", "real"} and found:
        return Kind.REAL
    return Kind.TEXT if found <= {"text"} else Kind.MIXED

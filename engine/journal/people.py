"""Who the agents are, in the run file: a row for each, a column for each attribute.

Words are kept as their places in a list, dates as days, so that a million people take little room; the view
`people` puts words and dates back. Names of attributes stand in the view alone, quoted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from engine.journal.storable import storable_text
from engine.journal.tables import quoted

PART = 50_000
"""People whose values are held at once."""
MOST = 1000
"""Attributes that become columns; SQLite has no more than 2,000."""

PEOPLE = "CREATE TABLE _people (agent INTEGER PRIMARY KEY{})"
VIEW = """
SELECT agent{}, (SELECT text FROM personas WHERE personas.agent = _people.agent) AS persona FROM _people"""
_WORD = "(SELECT word FROM _words WHERE attribute = {0} AND place = c{0})"
_DATE = "date('1970-01-01', c{0} || ' days')"


class Attribute(NamedTuple):
    """An attribute of everybody."""

    name: str
    values: Callable[[int, int], Sequence[Any]]
    """Of the people from one to below another."""
    words: Sequence[str] | None = None
    """The words whose places the values are; None if they are no places."""
    is_date: bool = False
    """Whether the values are days since 1970-01-01."""


def write_people(connection: sqlite3.Connection, n: int, attributes: Sequence[Attribute]) -> None:
    """Write what is known of `n` people, in place of what there was; to be called in a transaction."""
    attributes = attributes[:MOST]
    places = [f"c{place}" for place in range(len(attributes))]
    for statement in ("DROP VIEW people", "DROP TABLE _people", "DELETE FROM _words"):
        connection.execute(statement)
    connection.execute(PEOPLE.format("".join(f", {place}" for place in places)))
    for number, attribute in enumerate(attributes):
        words = enumerate(attribute.words or ())
        told = [(number, place, storable_text(word)) for place, word in words]
        connection.executemany("INSERT INTO _words VALUES (?, ?, ?)", told)
    marks = ", ".join("?" * (1 + len(attributes)))
    for rows in _parts(n, attributes):
        connection.executemany(f"INSERT INTO _people VALUES ({marks})", rows)  # noqa: S608
    columns = map(_column, range(len(attributes)), attributes, column_names([a.name for a in attributes]))
    connection.execute(f"CREATE VIEW people AS {VIEW.format(''.join(columns))}")


def column_names(names: Sequence[str]) -> list[str]:
    """Return the columns that attributes get: their names, with a number where there is such a column.

    SQL does not tell capital letters from small ones, and the view has `agent` and `persona` already.
    """
    taken, found = {"agent", "persona"}, []
    for name in names:
        plain = "".join(filter(str.isprintable, storable_text(name))) or "attribute"
        column, number = plain, 2
        while column.lower() in taken:
            column, number = f"{plain}_{number}", number + 1
        taken.add(column.lower())
        found.append(column)
    return found


def _parts(n: int, attributes: Sequence[Attribute]) -> Iterator[Iterator[tuple[Any, ...]]]:
    for first in range(0, n, PART):
        end = min(first + PART, n)
        yield zip(range(first, end), *(a.values(first, end) for a in attributes), strict=True)


def _column(number: int, attribute: Attribute, name: str) -> str:
    kept = _WORD if attribute.words is not None else _DATE if attribute.is_date else "c{0}"
    return f", {kept.format(number)} AS {quoted(name)}"

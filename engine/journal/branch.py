"""The beginning of a run as the beginning of another one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from engine.errors import UsageError
from engine.journal.faults import journal_faults
from engine.journal.personas import COMPLETE
from engine.journal.reader import Reader
from engine.journal.writer import Writer
from engine.keys import pack

_SHARED = ("prefixes", "forms", "models", "slices", "personas")
_BY_KEY = ("replies", "failures")
_BY_ROUND = ("messages", "_environment_calls", "rounds")


def copy_rounds(source: Path, target: Path, last_round: int) -> None:
    """Make a run file that holds the rounds of another one up to `last_round`.

    Raises UsageError if not all groups have ended that round there, JournalError for faults of either file.
    """
    with Reader(source) as reader:
        n_rounds = len(reader.rounds())
    if not 1 <= last_round <= n_rounds:
        raise UsageError(
            f"round {last_round} is not a finished round of that run",
            where=str(source.parent),
            hint=_possible(n_rounds),
        )
    Writer(target).close()
    with journal_faults(target, lambda: "the journal of the branch cannot be written"):
        connection = sqlite3.connect(target.absolute().as_uri(), uri=True)
        try:
            connection.execute("ATTACH ? AS parent", (f"{source.absolute().as_uri()}?mode=ro",))
            with connection:
                _copy(connection, last_round)
        finally:
            connection.close()


def _possible(n_rounds: int) -> str:
    if n_rounds > 1:
        return f"It has finished {n_rounds} rounds: --round takes 1 to {n_rounds}."
    return "It has finished one round: --round 1." if n_rounds else "It has not finished any round yet."


def _copy(connection: sqlite3.Connection, last_round: int) -> None:
    conditions = dict.fromkeys(_SHARED, "1 OR ?")
    conditions |= dict.fromkeys(_BY_KEY, f"key < {pack(last_round + 1, 0)} OR 0 * ?")
    conditions |= dict.fromkeys(_BY_ROUND, "round <= ?")
    conditions["_snapshots"] = "round < ?"  # what is heard after `last_round` may be another thing now
    conditions["population"] = f"part = '{COMPLETE}' OR 0 * ?"  # the rest is written anew
    for table, condition in conditions.items():
        columns = ", ".join(_stored_columns(connection, table))
        connection.execute(
            f"INSERT INTO {table} ({columns}) SELECT {columns} FROM parent.{table} WHERE {condition}",  # noqa: S608
            (last_round,),
        )


def _stored_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns that are not computed; the last field of table_xinfo is 0 for those."""
    rows = connection.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (table,))
    return [name for name, hidden in rows if hidden == 0]

"""What the journals of two runs have to have in common."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.agents.calls import STEP_CALLS

_CALL = f"min(key & 4095, {STEP_CALLS})"
EXACTLY = {
    "replies": "SELECT key, prompt, value, problem, finish, text FROM replies",
    "failures": "SELECT key, kind, detail, action FROM failures",
    "messages": "SELECT key, kind, round, receiver, turn, sender, message, answer, error FROM messages",
    "rounds": "SELECT round, grp, n_answered, n_excluded, n_failed, stats FROM rounds",
    "calls": "SELECT key, round, name, grp, turn, caller, method, arguments, result, error "
    "FROM environment_calls",
}
WHATEVER_THE_TURNS = EXACTLY | {
    "replies": f"SELECT round, agent, {_CALL}, prompt, value, problem, finish, text FROM replies",
    "failures": f"SELECT round, agent, {_CALL}, kind, detail, action FROM failures",
    "messages": "SELECT kind, round, receiver, sender, message, answer, error FROM messages",
    "calls": "SELECT round, name, grp, caller, method, arguments, result, error FROM environment_calls",
}
"""Without what depends on the order in which an agent was asked."""


def content(run_file: Path, queries: dict[str, str]) -> dict[str, list[Any]]:
    """Return the rows of a run file, without times and in an order that does not depend on when they came."""
    with closing(sqlite3.connect(run_file)) as db:
        return {name: sorted(db.execute(sql), key=repr) for name, sql in queries.items()}


def keys(run_file: Path) -> set[int]:
    """Return the calls that have a reply, in a file that may not be there yet."""
    try:
        with closing(sqlite3.connect(f"{run_file.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return {key for (key,) in db.execute("SELECT key FROM replies")}
    except sqlite3.OperationalError:
        return set()


def differences(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> list[str]:
    """Say how two contents differ: too much for one assertion to show."""
    found = []
    for name, rows in one.items():
        missing = [row for row in rows if row not in other[name]]
        added = [row for row in other[name] if row not in rows]
        found += [f"{name} lacks {row}" for row in missing[:5]] + [f"{name} has {row}" for row in added[:5]]
        if not missing and not added and len(rows) != len(other[name]):
            found.append(f"{name} has {len(other[name])} rows, not {len(rows)}")
    return found

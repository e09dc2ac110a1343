"""Agents between two rounds, so that a long run is not rebuilt from its first. Replies are always enough."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engine.journal.run_file import RunFile
from engine.keys import pack

_LAST = """
SELECT coalesce(max(round), 0) FROM (
  SELECT round FROM _snapshots WHERE code = ? AND round <= ? GROUP BY round HAVING sum(n) = ?)"""
_OBSERVATIONS = "SELECT DISTINCT grp, observation FROM _snapshots WHERE round = ?"
_FAILURES = "SELECT kind, count(*) FROM failures WHERE key < ? GROUP BY kind"


class Snapshot(NamedTuple):
    """Where a run can go on from; the agents themselves are read by the workers."""

    round: int
    """The last round that all agents have ended."""
    observations: dict[int, bytes]
    """What each group hears next, packed."""
    failures: dict[str, int]
    """Failed replies and agents until then, by kind."""


def last_snapshot(run_file: Path, code: str, n_agents: int, most: int) -> Snapshot | None:
    """Return the last one of all agents, after round `most` at the latest. Raises JournalError.

    `code` is the hash of the code that has to have made it: other code may keep other things.
    """
    with RunFile(run_file) as file:
        [(round_,)] = file.rows(_LAST, code, most, n_agents)
        if not round_:
            return None
        failures = dict(file.rows(_FAILURES, pack(round_ + 1, 0)))
        return Snapshot(round_, dict(file.rows(_OBSERVATIONS, round_)), failures)

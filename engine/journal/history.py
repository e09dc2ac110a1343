"""What a run already has, looked up while its agents are run again.

Agents act in order of their ids, so replies are read in blocks of neighbouring agents: one range of the key's
index a block, and each block once.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from engine.journal.faults import journal_faults
from engine.journal.rounds import ALL_GROUPS
from engine.journal.storable import Value
from engine.keys import CALL_BITS, ROUND_SHIFT

BLOCK_AGENTS = 16_384
MAX_BLOCKS = 4
"""Blocks held at once: agents that wait for others come back to a block after the next ones have begun."""

DEADLINE, ISOLATED, NO_ANSWER = "deadline", "isolated", "no answer"
"""Kinds of failure that running an agent's code again does not bring back: a turn ended by its deadline, one
that brought its worker down, and a question given up."""


class Past(NamedTuple):
    """A reply as it was. `text` is there only where there is no value."""

    prompt: int
    value: Value
    problem: str | None
    finish: str
    text: str | None
    detail: str | None
    """What was wrong, in the words in which the model was told."""


class GivenUp(NamedTuple):
    """A question whose answer was not waited for any longer."""

    detail: str
    answered: bool
    """Whether it was answered all the same."""


_BLOCK = """
SELECT key, prompt, value, problem, finish, CASE WHEN value IS NULL THEN text END,
  CASE WHEN problem IS NOT NULL THEN
    (SELECT detail FROM failures WHERE failures.key = replies.key AND kind = problem) END
FROM replies WHERE key >= ? AND key < ?"""
_TURNS = """
SELECT receiver, key FROM messages
WHERE round = ? AND receiver >= ? AND receiver < ? AND kind = 'ask' ORDER BY receiver, turn"""
_EXTENT = """
SELECT coalesce((SELECT max(key) FROM replies), 0), coalesce((SELECT max(round) FROM messages), 0),
  coalesce((SELECT max(round) FROM rounds WHERE grp = ?), 0)"""
_ENDS = "SELECT key, kind FROM failures WHERE kind IN (?, ?)"
_GIVEN_UP = "SELECT key, detail FROM failures WHERE kind = ?"
_ANSWERED = "SELECT key FROM messages WHERE key IN (SELECT key FROM failures WHERE kind = ?)"
_IS_OVER = "SELECT EXISTS(SELECT 1 FROM rounds WHERE round = ? AND grp IN (?, ?))"


class History:
    """Reads a run file that its coordinator has open. Every method may raise JournalError."""

    def __init__(self, path: Path) -> None:
        """Open a run file."""
        self._path = path
        with journal_faults(path, lambda: "the run file cannot be read"):
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        self._replies = lru_cache(MAX_BLOCKS)(self._load_replies)
        self._turns = lru_cache(MAX_BLOCKS)(self._load_turns)
        [(key, in_messages, self.finished)] = self._rows(_EXTENT, ALL_GROUPS)
        self.last_round: int = max(key >> ROUND_SHIFT, in_messages)
        """The last round of which anything is known; all groups have ended `finished` ones."""
        self.ends: dict[int, str] = dict(self._rows(_ENDS, DEADLINE, ISOLATED))
        """By the key that its next call would have had: turns that are to end there, and why."""
        given_up = self._rows(_GIVEN_UP, NO_ANSWER)
        answered = {key for (key,) in self._rows(_ANSWERED, NO_ANSWER)} if given_up else set()
        self.given_up = {key: GivenUp(detail, key in answered) for key, detail in given_up}
        """Questions that were not waited for to the end, by the key of the call that asked."""

    def get(self, key: int) -> Past | None:
        """Return the reply to a call, if there is one."""
        if key >> ROUND_SHIFT > self.last_round:
            return None
        return self._replies(key >> CALL_BITS & -BLOCK_AGENTS).get(key)

    def turns(self, round_: int, agent: int) -> list[int]:
        """Return the calls that asked an agent in a round, in the order in which it took them up."""
        if round_ > self.last_round:
            return []
        return self._turns(round_, agent & -BLOCK_AGENTS).get(agent, [])

    def is_over(self, round_: int, group: int) -> bool:
        """Tell whether a group has ended a round."""
        return bool(self._rows(_IS_OVER, round_, group, ALL_GROUPS)[0][0])

    def _load_replies(self, block: int) -> dict[int, Past]:
        first = block << CALL_BITS
        rows = self._rows(_BLOCK, first, first + (BLOCK_AGENTS << CALL_BITS))
        return {row[0]: Past(*row[1:]) for row in rows}

    def _load_turns(self, round_: int, first: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for receiver, key in self._rows(_TURNS, round_, first, first + BLOCK_AGENTS):
            found.setdefault(receiver, []).append(key)
        return found

    def _rows(self, sql: str, *parameters: Any) -> list[Any]:
        with journal_faults(self._path, lambda: "the run file cannot be read"):
            return self._connection.execute(sql, parameters).fetchall()

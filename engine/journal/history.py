"""What a run already has, looked up while its agents are run again.

Agents act in order of their ids, so replies are read in blocks of neighbouring agents: one range of the key's
index a block, and each block once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from engine.journal.faults import journal_faults
from engine.journal.rounds import ALL_GROUPS
from engine.journal.storable import Value
from engine.keys import CALL_BITS, ROUND_SHIFT, pack, unpack

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


class End(NamedTuple):
    """Where a turn ended, by the key that its next call would have had, and why."""

    key: int
    kind: str


_BLOCK = """
SELECT key, prompt, value, problem, finish, CASE WHEN value IS NULL THEN text END,
  CASE WHEN problem IS NOT NULL THEN
    (SELECT detail FROM failures WHERE failures.key = replies.key AND kind = problem) END
FROM replies WHERE key >= ? AND key < ?"""
_TURNS = """
SELECT receiver, key FROM messages
WHERE round = ? AND receiver >= ? AND receiver < ? AND kind = 'ask' ORDER BY receiver, turn"""
_CALLS = "SELECT calls FROM _environment_calls WHERE environment = ? AND round = ? ORDER BY first"
_EXTENT = """
SELECT coalesce((SELECT max(key) FROM replies), 0), coalesce((SELECT max(round) FROM messages), 0),
  coalesce((SELECT max(round) FROM _environment_calls), 0),
  coalesce((SELECT max(round) FROM rounds WHERE grp = ?), 0)"""
_ENDED = "SELECT coalesce(max(round), 0) FROM rounds WHERE grp IN (?, ?)"
_ENDS = "SELECT key, kind FROM failures WHERE kind IN (?, ?) ORDER BY key DESC"
_CALLED = "SELECT coalesce(max(key), 0) FROM environment_calls WHERE caller = ?"
_GIVEN_UP = "SELECT key, detail FROM failures WHERE kind = ?"
_ASKED = "SELECT coalesce(max(key), 0) FROM messages WHERE sender = ? AND kind = 'ask'"
_PARTS = """
SELECT first FROM _snapshots WHERE round = ? AND first < ? AND first + n > ? ORDER BY first"""
_PART = "SELECT state FROM _snapshots WHERE round = ? AND first = ?"
_LAST = "SELECT coalesce(max(key), 0) FROM replies WHERE key >= ? AND key < ?"


class History:
    """Reads a run file that its coordinator has open. Every method may raise JournalError."""

    def __init__(self, path: Path) -> None:
        """Open a run file."""
        self._path = path
        with journal_faults(path, lambda: "the run file cannot be read"):
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        self._replies = lru_cache(MAX_BLOCKS)(self._load_replies)
        self._turns = lru_cache(MAX_BLOCKS)(self._load_turns)
        [(key, in_messages, in_calls, self.finished)] = self._rows(_EXTENT, ALL_GROUPS)
        self.last_round: int = max(key >> ROUND_SHIFT, in_messages, in_calls)
        """The last round of which anything is known; all groups have ended `finished` ones."""
        self.ends = {key >> CALL_BITS: End(key, kind) for key, kind in self._rows(_ENDS, DEADLINE, ISOLATED)}
        """By round and agent (a key without its call): turns that are to end."""
        self.given_up: dict[int, str] = dict(self._rows(_GIVEN_UP, NO_ANSWER))
        """What was told to agents that did not wait for an answer to the end, by the key of their call."""

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

    def environment_calls(self, environment: int, round_: int) -> list[str]:
        """Return the calls of an environment in a round, in order: JSON texts, each of many."""
        if round_ > self.last_round:
            return []
        return [calls for (calls,) in self._rows(_CALLS, environment, round_)]

    def snapshots(self, round_: int, agents: range) -> Iterator[tuple[int, bytes]]:
        """Yield the parts of a snapshot that hold these agents: the first agent of each, and the content."""
        for (first,) in self._rows(_PARTS, round_, agents.stop, agents.start):
            [(state,)] = self._rows(_PART, round_, first)
            yield first, state

    def last_call(self, agent: int) -> int:
        """Return the key of the last known call of an agent, to whomever; 0 if none."""
        [(asked,)], [(called,)] = self._rows(_ASKED, agent), self._rows(_CALLED, agent)
        last = max([asked, called, *(key for key in self.given_up if unpack(key).agent == agent)])
        for round_ in range(max(1, last >> ROUND_SHIFT), self.last_round + 1):
            [(replied,)] = self._rows(_LAST, pack(round_, agent), pack(round_, agent + 1))
            last = max(last, replied)
        return int(last)

    def last_ended(self, group: int) -> int:
        """Return the last round that a group has ended; 0 if none."""
        [(ended,)] = self._rows(_ENDED, group, ALL_GROUPS)
        return int(ended)

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

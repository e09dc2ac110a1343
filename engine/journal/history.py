"""The replies that a run already has, looked up while its agents are run again.

Agents act in order of their ids, so replies are read in blocks of neighbouring agents: one range of the key's
index a block, and each block once.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

from engine.journal.faults import journal_faults
from engine.journal.storable import Value
from engine.keys import CALL_BITS, pack, unpack

BLOCK_AGENTS = 16_384
MAX_BLOCKS = 4
"""Blocks held at once: agents that wait for others come back to a block after the next ones have begun."""


class Past(NamedTuple):
    """A reply as it was. `text` is there only where there is a problem."""

    prompt: int
    value: Value
    problem: str | None
    finish: str
    text: str | None


_BLOCK = """
SELECT key, prompt, value, problem, finish, CASE WHEN problem IS NULL THEN NULL ELSE text END
FROM replies WHERE key >= ? AND key < ?"""


_ENDED_TURNS = "SELECT round, agent, kind FROM failures WHERE kind IN ('deadline', 'isolated')"
_TURNS = "SELECT receiver, key FROM messages WHERE round = ? AND kind = 'ask' ORDER BY receiver, turn"


class History:
    """Reads a run file that its coordinator has open. Every method may raise JournalError."""

    def __init__(self, path: Path) -> None:
        """Open a run file."""
        self._path = path
        self._blocks: OrderedDict[int, dict[int, Past]] = OrderedDict()
        with journal_faults(path, lambda: "the run file cannot be read"):
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            (key,) = self._connection.execute("SELECT max(key) FROM replies").fetchone()
            ended = self._connection.execute(_ENDED_TURNS).fetchall()
            self.ended_turns = {(round_, agent): kind for round_, agent, kind in ended}
            """(round, agent) of turns that something else than their own code ended, and what."""
        self._turns: tuple[int, dict[int, list[int]]] = (0, {})
        self.last_round = unpack(key).round if key is not None else 0
        """The last round that has a reply."""

    def get(self, key: int) -> Past | None:
        """Return the reply to a call, if there is one."""
        round_, agent, _ = unpack(key)
        if round_ > self.last_round:
            return None
        first = pack(round_, agent - agent % BLOCK_AGENTS)
        block = self._blocks.get(first)
        if block is None:
            block = self._load(first)
        return block.get(key)

    def turns(self, round_: int) -> dict[int, list[int]]:
        """Return the calls that asked, by the agent asked, in the order in which it answered."""
        if self._turns[0] != round_:
            with journal_faults(self._path, lambda: "the run file cannot be read"):
                rows = self._connection.execute(_TURNS, (round_,)).fetchall()
            found: dict[int, list[int]] = {}
            for receiver, key in rows:
                found.setdefault(receiver, []).append(key)
            self._turns = (round_, found)
        return self._turns[1]

    def _load(self, first: int) -> dict[int, Past]:
        last = first + (BLOCK_AGENTS << CALL_BITS)
        with journal_faults(self._path, lambda: "the run file cannot be read"):
            rows = self._connection.execute(_BLOCK, (first, last)).fetchall()
        block = self._blocks[first] = {row[0]: Past(*row[1:]) for row in rows}
        if len(self._blocks) > MAX_BLOCKS:
            self._blocks.popitem(last=False)
        return block

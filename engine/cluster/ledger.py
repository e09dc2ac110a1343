"""A worker's failures by kind, counted as they are recorded."""

from __future__ import annotations

from collections import Counter

from engine.agents.births import REFUSED
from engine.agents.mail import UNDELIVERED
from engine.agents.memories.calls import LEFT_OUT
from engine.journal.recorder import Recorder
from engine.journal.transcripts import Transcripts
from engine.keys import CALL_BITS, pack
from engine.models.answers import Problem

_UNAFFECTING = frozenset((Problem.RESENT, LEFT_OUT, UNDELIVERED, REFUSED))
"""Entries that do not touch what an agent answers, or only as the preset wants it."""


class Ledger(Recorder):
    """Records for the journal, and keeps the sums that the progress line shows."""

    def __init__(self, transcripts: Transcripts, max_chars: int) -> None:
        super().__init__(transcripts, max_chars)
        self.counts: Counter[str] = Counter()
        self._affected: set[int] = set()
        """Rounds and agents that have entries, packed like a key without its call."""

    def failure(self, key: int, kind: str, detail: str, action: str, traceback: str | None = None) -> None:
        """Record and count a failed reply or agent."""
        self.counts[kind] += 1
        if kind not in _UNAFFECTING:
            self._affected.add(key >> CALL_BITS)
        super().failure(key, kind, detail, action, traceback)

    def take_affected(self, round_: int, members: range) -> list[int]:
        """Return which of the members have entries in a round, by index, and forget that."""
        if not self._affected:
            return []
        first = pack(round_, members.start) >> CALL_BITS
        found = [index for index in range(len(members)) if first + index in self._affected]
        self._affected.difference_update([first + index for index in found])
        return found

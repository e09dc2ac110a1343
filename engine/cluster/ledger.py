"""A worker's failures by kind, counted as they are recorded."""

from __future__ import annotations

from collections import Counter

from engine.journal.recorder import Recorder
from engine.journal.transcripts import Transcripts


class Ledger(Recorder):
    """Records for the journal, and keeps the sums that the progress line shows."""

    def __init__(self, transcripts: Transcripts, max_chars: int) -> None:
        super().__init__(transcripts, max_chars)
        self.counts: Counter[str] = Counter()

    def failure(self, key: int, kind: str, detail: str, action: str, traceback: str | None = None) -> None:
        """Record and count a failed reply or agent."""
        self.counts[kind] += 1
        super().failure(key, kind, detail, action, traceback)

"""The sums of a run: what every process has reported, and what a round has cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from engine.cluster.control import TimeSplit
from engine.cluster.wire import Work

AGENT_FAILURES = frozenset(("exception", "deadline", "wrong value", "isolated"))
"""Kinds in the ledger that stop an agent; the others are failed replies."""


class Accounts:
    """Latest work of each process by name; model services are the names that begin with "model-"."""

    def __init__(
        self, n_workers: int, clock: Callable[[], float], journal_seconds: Callable[[], float]
    ) -> None:
        self._n_workers = n_workers
        self._clock = clock
        self._journal_seconds = journal_seconds
        self._work: dict[str, Work] = {}
        self._mark = self._sums()
        self.started = clock()
        self._marked_at = self.started

    def note(self, process: str, work: Work) -> None:
        """Take a report."""
        self._work[process] = work

    @property
    def n_done(self) -> int:
        """Turns ended since the run began."""
        return sum(work.n_done for work in self._work.values())

    @property
    def n_open(self) -> int:
        """Requests that wait for a reply, as those see it who made them."""
        return sum(work.n_open for name, work in self._work.items() if not name.startswith("model-"))

    @property
    def failures(self) -> Counter[str]:
        """Failed replies and agents, by kind."""
        total: Counter[str] = Counter()
        for work in self._work.values():
            total.update(work.failures)
        return total

    @property
    def n_stopped(self) -> int:
        """Agents that have been stopped by a failure of their own."""
        return sum(n for kind, n in self.failures.items() if kind in AGENT_FAILURES)

    def forget(self, process: str) -> None:
        """Keep what a process has cost, but not what it has counted: its work is done again."""
        work = self._work.pop(process, None)
        if work is not None:
            past = self._work.setdefault("past", Work())
            for name in ("cpu_s", "model_s", "agents_s", "messages_s"):
                setattr(past, name, getattr(past, name) + getattr(work, name))

    def restart_round(self) -> None:
        """Begin to count here: what went before (loading a model) is no round's."""
        self._mark, self._marked_at = self._sums(), self._clock()

    def close_round(self) -> tuple[float, float, TimeSplit]:
        """Return wall seconds, CPU seconds and the time split since the last round was closed."""
        now, sums = self._clock(), self._sums()
        seconds = now - self._marked_at
        cpu, model, agents, messages, journal = (a - b for a, b in zip(sums, self._mark, strict=True))
        self._mark, self._marked_at = sums, now
        model, agents, messages = (x / self._n_workers for x in (model, agents, messages))
        idle = max(0.0, seconds - model - agents - messages)
        return seconds, cpu, TimeSplit(model, agents, messages, idle, journal)

    def _sums(self) -> tuple[float, float, float, float, float]:
        work = self._work.values()
        return (
            sum(w.cpu_s for w in work) + time.process_time(),
            sum(w.model_s for w in work),
            sum(w.agents_s for w in work),
            sum(w.messages_s for w in work),
            self._journal_seconds(),
        )

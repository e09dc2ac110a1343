"""Where a process's wall time goes: at any moment it is in exactly one phase, so the phases add up."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum


class Phase(IntEnum):
    """What a worker can be doing."""

    MODEL = 0
    AGENTS = 1
    MESSAGES = 2
    IDLE = 3


class Stopwatch:
    """Adds up seconds by phase."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._phase = Phase.IDLE
        self._since = clock()
        self.spent = [0.0] * len(Phase)

    def enter(self, phase: Phase) -> None:
        """Charge the time since the last call to the phase before, and begin this one."""
        now = self._clock()
        self.spent[self._phase] += now - self._since
        self._phase = phase
        self._since = now

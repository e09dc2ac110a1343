"""Processes that have died in a run, and whether going on is worth a try."""

from __future__ import annotations

from collections import Counter
from enum import Enum

from engine.agents.scheduler import NOBODY
from engine.keys import unpack

MAX_RESTARTS = 3
"""How often a model service is replaced, and how often one agent may bring its worker down, in one run."""
MAX_FRUITLESS = 5
"""How often workers may die between agents, within one round, before the run is given up."""


class Remedy(Enum):
    """What to do about a dead process."""

    REPLACE = 0
    ISOLATE = 1
    """Replace it, but never again run the agent that it was running."""
    GIVE_UP = 2


class Casualties:
    """Counts the dead."""

    def __init__(self) -> None:
        self._services: Counter[str] = Counter()
        self._brought_down: Counter[int] = Counter()
        """How often each agent was running when its worker died."""

    def service(self, process: str) -> Remedy:
        """Note the death of a model service."""
        self._services[process] += 1
        return Remedy.REPLACE if self._services[process] <= MAX_RESTARTS else Remedy.GIVE_UP

    def worker(self, running: int) -> Remedy:
        """Note the death of a worker, by the key of the turn that it was running, or NOBODY."""
        agent = unpack(running).agent if running != NOBODY else NOBODY
        self._brought_down[agent] += 1
        if agent == NOBODY:
            return Remedy.GIVE_UP if self._brought_down[agent] > MAX_FRUITLESS else Remedy.REPLACE
        return Remedy.ISOLATE if self._brought_down[agent] >= MAX_RESTARTS else Remedy.REPLACE

    def round_ended(self) -> None:
        """Forget deaths that no agent was to blame for: the run has got on."""
        del self._brought_down[NOBODY]

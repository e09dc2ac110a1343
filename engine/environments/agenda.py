"""Time that goes from event to event: who is due next, in an order that depends on nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray


class Agenda:
    """A queue of (time, agent), earliest first, agents of one time in the order of their ids.

    An environment keeps one: what is put in during a round, it takes out at the round's end. So there is no
    round in which nobody is due, however long the time in between.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        """The time that `take_next` has come to, in whatever unit the scenario has."""
        self._entries: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, time: float, agent: int) -> None:
        """Let an agent be due at a time. Raises ValueError for times that have been, or are none."""
        if not (math.isfinite(time) and time >= self.now):
            raise ValueError(f"an agent cannot be due at {time}: it is {self.now} already")
        heappush(self._entries, (time, agent))

    def take_next(self) -> tuple[int, ...]:
        """Go to the next time at which anybody is due, and return who; nobody if there is none."""
        if not self._entries:
            return ()
        self.now = self._entries[0][0]
        due = []
        while self._entries and self._entries[0][0] == self.now:
            due.append(heappop(self._entries)[1])
        return tuple(dict.fromkeys(due))


def only(agents: Iterable[int], members: range) -> NDArray[np.bool_]:
    """Return which of some members are among `agents`, as `Scenario.acts` returns it."""
    return np.isin(np.arange(members.start, members.stop), np.fromiter(agents, dtype=np.int64))

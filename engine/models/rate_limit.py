"""A token bucket: how soon something may be done that is allowed so often a minute."""

from __future__ import annotations

from collections.abc import Callable

EPSILON = 1e-9
"""Rounding of a float clock; without it a wait could end a moment before the bucket is full enough."""


class Bucket:
    """Fills steadily and holds one second's worth, or one unit if that is more.

    So in any minute no more goes through than the limit and one second's worth. What costs more than the
    bucket holds goes through a full one, which then has to fill up from below zero.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        """`clock` is in seconds."""
        self._clock = clock
        self._rate = per_minute / 60
        self._most = max(1.0, self._rate)
        self._level = self._most
        self._at = clock()

    def wait(self, cost: float) -> float:
        """Return the seconds until so much may go through, 0 if it may now."""
        self._fill()
        missing = min(cost, self._most) - self._level
        return missing / self._rate if missing > EPSILON else 0.0

    def take(self, cost: float) -> None:
        """Let so much through."""
        self._fill()
        self._level -= cost

    def give_back(self, amount: float) -> None:
        """Correct a cost that was only estimated; less than nothing is a cost that turned out higher."""
        self._level = min(self._most, self._level + amount)

    def _fill(self) -> None:
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._at) * self._rate)
        self._at = now

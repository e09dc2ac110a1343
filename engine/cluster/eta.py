"""When a run will be over, and what that estimate rests on."""

from __future__ import annotations

from collections import deque

WINDOW_S = 30.0
"""Rates are taken over so many seconds: long enough to span several batches of a slow model."""
MIN_SHARE = 0.01
"""No estimate before this share of the first round is done."""


class Rate:
    """Follows a sum that grows."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def note(self, now: float, total: int) -> None:
        """Add an observation: seconds on any clock, and the sum so far."""
        self._points.append((now, total))
        while len(self._points) > 2 and now - self._points[1][0] > WINDOW_S:
            self._points.popleft()

    @property
    def rate(self) -> float:
        """Growth a second over the window; 0 while unknown."""
        if len(self._points) < 2:
            return 0.0
        (t0, n0), (t1, n1) = self._points[0], self._points[-1]
        return (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0


class Pace(Rate):
    """Follows how many turns have ended."""

    def __init__(self, n_total: int, n_per_round: int) -> None:
        super().__init__()
        self._n_total = n_total
        self._n_per_round = n_per_round

    def eta(self) -> tuple[float | None, str]:
        """Return the seconds left, None while there is nothing to go by, and the basis in words."""
        n_done = self._points[-1][1] if self._points else 0
        if self.rate <= 0 or n_done < MIN_SHARE * self._n_per_round:
            return None, "too few turns so far"
        span = self._points[-1][0] - self._points[0][0]
        return (self._n_total - n_done) / self.rate, f"at the pace of the last {span:.0f} s"

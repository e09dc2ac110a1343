"""When a run will be over, and what that estimate rests on."""

from __future__ import annotations

from collections import deque

WINDOW_S = 30.0
"""Rates are taken over so many seconds: long enough to span several batches of a slow model."""
SHARE = 0.25
"""Of a round, what has to be done before its pace tells anything: its first turns end late, when the model
has read the prompts, and as many at once as the model answers side by side."""
LATER_SHARE = 0.75
"""The same where the pace of the round before is known, which is the better guide until then: with llama.cpp,
two fifths of a round's turns were done after two thirds of its time."""
MANY, LONG_S = 1000, 30.0
"""So many turns after so many seconds will do, too: a quarter of a million turns may be hours away."""

Point = tuple[float, int]
"""Seconds on any clock, and the sum by then."""


class Rate:
    """Follows a sum that grows."""

    def __init__(self) -> None:
        self._points: deque[Point] = deque()

    def note(self, now: float, total: int) -> None:
        """Add an observation."""
        self._points.append((now, total))
        while len(self._points) > 2 and now - self._points[1][0] > WINDOW_S:
            self._points.popleft()

    @property
    def rate(self) -> float:
        """Growth a second over the window; 0 while unknown."""
        return _rate(self._points[0], self._points[-1]) if self._points else 0.0


class Pace(Rate):
    """Follows how many turns have ended."""

    def __init__(self, n_total: int, n_per_round: int) -> None:
        super().__init__()
        self._n_total = n_total
        self._n_per_round = n_per_round
        self._rounds: deque[Point] = deque(maxlen=2)
        """When the last two rounds' worth of turns began."""

    def restart(self, now: float, total: int) -> None:
        """Let the pace rest on what comes from here on, not on loading a model or on turns done before."""
        self._points.clear()
        self._rounds.clear()
        self.note(now, total)

    def note(self, now: float, total: int) -> None:
        """Add an observation."""
        super().note(now, total)
        if not self._rounds or total - self._rounds[-1][1] >= self._n_per_round:
            self._rounds.append((now, total))

    def eta(self) -> tuple[float | None, str]:
        """Return the seconds left, None while there is nothing to go by, and the basis in words.

        It goes by the round before while too few of this one's turns have ended.
        """
        if self._rounds:
            (began, n_before), (now, n_done) = self._rounds[-1], self._points[-1]
            seconds, n_new = now - began, n_done - n_before
            if seconds > 0 and self._is_telling(n_new, seconds):
                return (self._n_total - n_done) * seconds / n_new, f"at the pace of the last {seconds:.0f} s"
            if rate := _rate(self._rounds[0], self._rounds[-1]):
                left = (self._n_total - n_before) / rate
                return max(left - seconds, left - self._n_per_round / rate, 0.0), "at the last round's pace"
        return None, "too few turns so far"

    def _is_telling(self, n_turns: int, seconds: float) -> bool:
        if len(self._rounds) > 1:
            return n_turns >= LATER_SHARE * self._n_per_round
        return n_turns >= max(1, SHARE * self._n_per_round) or (n_turns >= MANY and seconds >= LONG_S)


def _rate(first: Point, last: Point) -> float:
    (t0, n0), (t1, n1) = first, last
    return (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0

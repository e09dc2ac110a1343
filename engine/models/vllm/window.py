"""How many replies a server is asked for at the same time, found by trial.

Additive increase, multiplicative decrease (Chiu and Jain 1989), after a start that doubles (Jacobson 1988).
A server that is asked for too little idles; one that is asked for too much keeps requests waiting where no
other server can take them, or turns them away. Where the server tells its queue, the queue decides; where it
does not, the window stops growing once more requests no longer bring more replies.
"""

from __future__ import annotations

from random import Random

START = 8
CUT = 0.7
"""What is left of a window after a sign of overload. TCP's half empties a server with a deep batch."""
QUEUE_SHORT, QUEUE_LONG = 0.05, 0.25
"""Requests waiting per request running: below the first the window grows, above the second it shrinks."""
GAIN = 1.05
"""A larger window has to bring so many times the replies a second to count as better."""
SMOOTH = 0.25
"""Weight of the newest rate in their mean: single ones vary by more than `GAIN`."""
STRETCH = 1.5
"""So many times the best window is tried without a gain before going back to it."""
STEP = 1 / 32
"""What a window grows by whenever it has come back, as a share of itself, but at least 1; after doubling."""
MIN_EPOCH = 16
"""Replies: a rate is measured over at least so many."""
SLOWER = 3.0
"""A reply this many times slower than the fastest may be late because of a queue."""
MAX_PAUSE_S = 10.0


class Window:
    """The window of one server; times are seconds of one clock."""

    def __init__(self, most: int, late_s: float, rng: Random) -> None:
        """`most` bounds the window, replies slower than `late_s` tell of a queue, `rng` spreads pauses."""
        self._most = float(most)
        self._late_s = late_s
        self._rng = rng
        self.tells_queue = False
        """Whether `queued` will be called: then replies a second decide nothing."""
        self.restart()

    def restart(self) -> None:
        """Forget what was learnt: the server is another one now."""
        self.limit = min(float(START), self._most)
        self.resume_at = float("-inf")
        """Nothing is sent before this time."""
        self._doubling = self._growing = True
        self._cut_at = float("-inf")
        self._refusals = 0
        self._fastest = float("inf")
        self._rate = self._best = 0.0
        self._best_limit = self.limit
        self._counted, self._since, self._from = 0, float("-inf"), self.limit

    def room(self, now: float, in_flight: int) -> int:
        """Return how many more may be sent now."""
        return 0 if now < self.resume_at else int(self.limit) - in_flight

    def answered(self, now: float, sent: float, *, full: bool, count: int = 1) -> None:
        """Note `count` replies to a request sent at `sent`; `full` says whether the window was in use."""
        self._refusals = 0
        latency = now - sent
        self._fastest = min(self._fastest, latency)
        if latency > self._late_s and latency > SLOWER * self._fastest:
            self._shrink(now, sent)
        elif full:
            self._grow(count)
        self._measure(now, count, full)

    def overloaded(self, now: float, sent: float, retry_after_s: float | None = None) -> None:
        """Note that a request sent at `sent` was turned away or got stuck."""
        if self._shrink(now, sent):
            self._refusals += 1
            if self._refusals > 1:  # smaller did not help: let it be for a while
                longest = min(MAX_PAUSE_S, 0.1 * 2.0**self._refusals)
                self.resume_at = max(self.resume_at, now + longest * self._rng.random())
        if retry_after_s is not None:
            self.resume_at = max(self.resume_at, now + retry_after_s)

    def queued(self, now: float, running: int, waiting: int) -> None:
        """Note how many requests the server says it runs and keeps waiting."""
        self._growing = waiting <= QUEUE_SHORT * running
        if waiting > max(1.0, QUEUE_LONG * running) and now > self._cut_at + 1.0:
            self._shrink(now, now)

    def _grow(self, count: int) -> None:
        if self._growing:
            step = 1.0 if self._doubling else max(1 / self.limit, STEP)
            self.limit = min(self._most, self.limit + step * count)

    def _shrink(self, now: float, sent: float) -> bool:
        """Cut the window, once for all that was sent before; return whether it was."""
        if sent < self._cut_at:
            return False
        self._doubling = False
        self._cut_at = now
        self.limit = max(1.0, self.limit * CUT)
        self._best_limit = min(self._best_limit, self.limit)
        return True

    def _measure(self, now: float, count: int, full: bool) -> None:
        """Compare the rate of replies to the best so far, once a window has come back."""
        if self.tells_queue:
            return
        if not full or self._since == float("-inf"):
            self._counted, self._since, self._from = 0, now, self.limit
            return
        self._counted += count
        if self._counted < max(MIN_EPOCH, self._from) or now <= self._since:
            return
        rate = self._counted / (now - self._since)
        self._rate = rate if self._doubling else self._rate + SMOOTH * (rate - self._rate)
        if self._rate > GAIN * self._best:
            self._best, self._best_limit = self._rate, self._from
        elif self.limit > STRETCH * self._best_limit:
            self._doubling = False
            self._best, self.limit = self._rate, self._best_limit
        self._counted, self._since, self._from = 0, now, self.limit

"""Keeping away from a sick server, and going back to a healthy one (the circuit breaker of Nygard 2007).

A server is judged by what becomes of requests, not by what it says of itself: a vLLM whose engine has died
goes on to answer /health with 200 for seconds.
"""

from __future__ import annotations

from enum import StrEnum
from random import Random

MAX_FAILURES = 5
FIRST_WAIT_S, MAX_WAIT_S = 0.5, 30.0


class State(StrEnum):
    """Whether a server gets requests."""

    CLOSED = "healthy"
    OPEN = "sick"
    TRIAL = "on trial"


class Breaker:
    """The health of one server; times are seconds of one clock."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._failures = 0
        self._wait_s = FIRST_WAIT_S
        self._retry_at = 0.0
        self.state = State.CLOSED
        self.reason = ""
        """Why the server is not healthy."""
        self.era = 0
        """Grows whenever the state changes: what was sent in an earlier era says nothing about this one."""

    def succeeded(self, era: int) -> bool:
        """Note a reply to a request of an era; return whether the server has just become healthy."""
        if era != self.era:
            return False
        self._failures = 0
        if self.state is State.CLOSED:
            return False
        self._wait_s = FIRST_WAIT_S
        self._become(State.CLOSED, "")
        return True

    def failed(self, now: float, era: int, reason: str) -> bool:
        """Note a failure of the server; return whether it has just become sick."""
        if era != self.era or self.state is State.OPEN:
            return False
        self._failures += 1
        if self.state is State.CLOSED and self._failures < MAX_FAILURES:
            return False
        self.open(now, reason)
        return True

    def open(self, now: float, reason: str) -> None:
        """Send nothing for a while; each time in a row for twice as long, spread by half."""
        self._retry_at = now + self._wait_s * (0.75 + 0.5 * self._rng.random())
        self._wait_s = min(MAX_WAIT_S, 2 * self._wait_s)
        self._become(State.OPEN, reason)

    def is_due(self, now: float) -> bool:
        """Tell whether it is time to look at a sick server again."""
        return self.state is State.OPEN and now >= self._retry_at

    def try_again(self) -> None:
        """Let one request decide whether the server is healthy."""
        self._become(State.TRIAL, self.reason)

    def _become(self, state: State, reason: str) -> None:
        self.state, self.reason = state, reason
        self._failures = 0
        self.era += 1

"""When to send a request again after a failure."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

FIRST_WAIT_S, MAX_WAIT_S = 0.25, 10.0
MAX_RETRY_AFTER_S = 86_400.0


def wait_s(tries: int, rng: Random) -> float:
    """Return how long to wait before try number `tries` + 1, at random up to a bound that doubles.

    "Full jitter" (Brooker, Exponential Backoff And Jitter, 2015): failed together, not tried again together.
    """
    return rng.random() * min(MAX_WAIT_S, FIRST_WAIT_S * 2.0 ** min(tries, 16))


class Budget:
    """Bounds the share of retries in all that is sent, over all servers.

    Servers that fail under load fail more if every failure is sent again. Replies earn retries (Finagle's
    RetryBudget, gRPC's retry throttling); a trickle keeps the last requests of a run from waiting for ever.
    """

    def __init__(self, *, earned: float = 0.2, most: float = 100.0, trickle_per_s: float = 10.0) -> None:
        self._earned = earned
        self._most = most
        self._trickle = trickle_per_s
        self._balance = most
        self._at = 0.0

    def earn(self, replies: int) -> None:
        """Note replies."""
        self._balance = min(self._most, self._balance + self._earned * replies)

    def spend(self, now: float) -> float:
        """Take one retry; return after how many seconds it may be sent."""
        self._balance = min(self._most, self._balance + self._trickle * max(0.0, now - self._at))
        self._at = now
        self._balance -= 1
        return max(0.0, -self._balance / self._trickle)


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for (RFC 9110, 10.2.3); None if it does not say."""
    if not header:
        return None
    text = header.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return min(MAX_RETRY_AFTER_S, float(text))
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return min(MAX_RETRY_AFTER_S, max(0.0, (date - now).total_seconds()))

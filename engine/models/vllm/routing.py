"""Which server gets a request: what begins alike goes to the same one, while that is not asked for too much.

A server computes what prompts have in common once and keeps it. Consistent hashing (Karger et al. 1997) gives
each beginning a server that stays the same when others come and go; a bound on the load (Mirrokni, Thorup and
Zadimoghaddam 2018) sends what would overload it on to the next.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Protocol

POINTS = 64
"""Per server: their shares of the ring then differ by about an eighth."""
BOUND = 1.25
"""A server may have so many times the load that is fair."""
SLACK = 8
"""...and so many requests more: a few more cost a batch next to nothing, a prefix computed anew does."""


class Candidate(Protocol):
    """A server as routing sees it."""

    @property
    def load(self) -> int:
        """Requests that wait for it or are with it."""

    @property
    def capacity(self) -> float:
        """How many it takes at a time; 0 for one that takes none."""


class Ring:
    """Servers in an order that depends on what is asked."""

    def __init__(self, names: Sequence[str]) -> None:
        points = sorted((_hash(f"{name} {n}"), i) for i, name in enumerate(names) for n in range(POINTS))
        self._places = [place for place, _ in points]
        self._owners = [owner for _, owner in points]
        self._size = len(names)

    def walk(self, key: int) -> Iterator[int]:
        """Yield all servers, the one that `key` belongs to first."""
        start = bisect(self._places, _scatter(key))
        owners, n = self._owners, len(self._owners)
        seen: set[int] = set()
        for step in range(n):
            owner = owners[(start + step) % n]
            if owner not in seen:
                seen.add(owner)
                yield owner
                if len(seen) == self._size:
                    return


def choose(order: Iterator[int], candidates: Sequence[Candidate], avoid: int | None = None) -> int | None:
    """Return the first server in order that is within its bound; None if none takes requests.

    `avoid` is taken only if there is no other.
    """
    capacity = sum(candidate.capacity for candidate in candidates)
    if not capacity:
        return None
    fair = BOUND * (1 + sum(candidate.load for candidate in candidates)) / capacity
    others = []
    for i in order:
        server = candidates[i]
        if server.capacity and i != avoid:
            if server.load < SLACK + math.ceil(fair * server.capacity):
                return i
            others.append(i)
    return min(others, key=lambda i: candidates[i].load / candidates[i].capacity, default=avoid)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def _scatter(key: int) -> int:
    """Spread neighbouring keys over the ring (Fibonacci hashing, Knuth 6.4)."""
    return key * 0x9E3779B97F4A7C15 & (1 << 64) - 1

"""How many questions, or calls, may wait at one receiver on another worker."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")

CREDIT = 20_000
"""Unanswered ones from one worker. The next ones wait where they were asked: they would not be answered
sooner at the receiver, which takes up one after the other, so no one waits for ever because of that."""


class Credits(Generic[T]):
    """Lets so many go to each receiver, and the next one for each that is answered, in order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._unanswered: dict[int, int] = {}
        self._held: dict[int, deque[T]] = {}

    def take(self, receiver: int, item: T, *, at_once: bool = False) -> bool:
        """Return whether one may go now, as it may in any case `at_once`; otherwise keep it until it may."""
        n = self._unanswered.get(receiver, 0)
        if n < self._most or at_once:
            self._unanswered[receiver] = n + 1
            return True
        self._held.setdefault(receiver, deque()).append(item)
        return False

    def give_back(self, receiver: int) -> T | None:
        """Note that one is answered; return the next one that may go, if any waits."""
        held = self._held.get(receiver)
        if held is None:
            self._forget_one(receiver)
            return None
        item = held.popleft()
        if not held:
            del self._held[receiver]
        return item

    def _forget_one(self, receiver: int) -> None:
        n = self._unanswered.pop(receiver)
        if n > 1:
            self._unanswered[receiver] = n - 1

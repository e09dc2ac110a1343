"""Whether agents wait for each other and nothing in the run moves any more."""

from __future__ import annotations

from collections.abc import Callable


class Standstill:
    """Looks at what moves; `deadline_s` without any of it is a standstill."""

    def __init__(self, clock: Callable[[], float], deadline_s: float) -> None:
        self._clock = clock
        self._deadline_s = deadline_s
        self._seen: object = None
        self._since = clock()

    def look(self, progress: object, *, busy: bool) -> bool:
        """Return whether the run stands still. `progress` changes whenever something has moved."""
        now = self._clock()
        if busy or progress != self._seen:
            self._seen, self._since = progress, now
            return False
        if now - self._since <= self._deadline_s:
            return False
        self._since = now
        return True

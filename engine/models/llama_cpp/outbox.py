"""From the threads that compute back to the event loop, in batches."""

from __future__ import annotations

import asyncio
import contextlib
import threading

from engine.models.protocol import Deliver, Result


class Outbox:
    """Collects results for one receiver; the loop hears of them once, however many there are by then."""

    def __init__(self, loop: asyncio.AbstractEventLoop, deliver: Deliver) -> None:
        self._loop = loop
        self._deliver = deliver
        self._lock = threading.Lock()
        self._results: list[Result] = []

    def put(self, result: Result) -> None:
        """Take a result, in any thread."""
        with self._lock:
            self._results.append(result)
            first = len(self._results) == 1
        if first:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is there to hear
                self._loop.call_soon_threadsafe(self._flush)

    def _flush(self) -> None:
        with self._lock:
            results, self._results = self._results, []
        self._deliver(results)

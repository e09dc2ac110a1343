"""Results on their way back to one worker, handed over together."""

from __future__ import annotations

import asyncio

from engine.models.protocol import Deliver, Result


class Outbox:
    """Gathers what is ready in one turn of the event loop."""

    __slots__ = ("_deliver", "_ready")

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._ready: list[Result] = []

    def put(self, result: Result) -> None:
        """Add a result."""
        self._ready.append(result)
        if len(self._ready) == 1:
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        ready, self._ready = self._ready, []
        self._deliver(ready)

"""One server: what it takes, how it is, and what waits for it or is with it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from engine.models.vllm.bodies import Bodies
from engine.models.vllm.breaker import Breaker, State
from engine.models.vllm.call import Attempt, Call
from engine.models.vllm.connection import Connection
from engine.models.vllm.features import Features
from engine.models.vllm.window import Window


class Server:
    """The state of one server; `dispatch` decides what becomes of it."""

    def __init__(self, index: int, connection: Connection, window: Window, breaker: Breaker) -> None:
        self.index = index
        self.connection = connection
        self.window = window
        self.breaker = breaker
        self.features = Features()
        self.bodies: Bodies | None = None
        """None until the server has been reached for the first time."""
        self.attempts: dict[Attempt, None] = {}
        self.in_flight = 0
        """Replies that it is asked for."""
        self.trouble = ""
        """What it failed at last."""
        self._queue: list[Call] = []
        self.n_queued = 0
        """Replies that it will be asked for."""

    @property
    def name(self) -> str:
        """How the server is called in messages."""
        return self.connection.address.name

    @property
    def load(self) -> int:
        """Replies that are or will be asked for."""
        return self.in_flight + self.n_queued

    @property
    def capacity(self) -> float:
        """How many replies it takes at a time; 0 while it is sick."""
        if self.breaker.state is State.CLOSED:
            return self.window.limit
        return 1.0 if self.breaker.state is State.TRIAL else 0.0

    def room(self, now: float) -> int:
        """How many more replies it may be asked for now."""
        match self.breaker.state:
            case State.CLOSED:
                return self.window.room(now, self.in_flight)
            case State.TRIAL:
                on_trial = any(attempt.era == self.breaker.era for attempt in self.attempts)
                return 0 if on_trial or now < self.window.resume_at else 1
        return 0

    def push(self, call: Call) -> None:
        """Let a call wait for this server."""
        heapq.heappush(self._queue, call)
        self.n_queued += len(call.members)

    def pop(self) -> Call | None:
        """Return the next call that waits and is not done."""
        while self._queue:
            call = heapq.heappop(self._queue)
            self.n_queued -= len(call.members)
            if not call.done:
                return call
        return None

    def drain(self) -> Iterator[Call]:
        """Take out all calls that wait."""
        while call := self.pop():
            yield call

"""Calls that wait to be sent, each in the queue of the server that suits it best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from engine.models.vllm.call import Call
from engine.models.vllm.routing import BOUND, SLACK, Ring, choose
from engine.models.vllm.server import Server


class Queues:
    """The queues of all servers. A server with nothing of its own to do helps the one with most."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers
        self._ring = Ring([server.name for server in servers])
        self._open: Counter[int] = Counter()
        self.n_open = 0
        """Requests that have no result yet."""

    def note_open(self, call: Call) -> None:
        """Count the requests of a new call."""
        self._open[call.prefix] += len(call.members)
        self.n_open += len(call.members)

    def note_done(self, call: Call, n: int) -> None:
        """Count `n` requests of a call as answered."""
        self.n_open -= n
        self._open[call.prefix] -= n
        if not self._open[call.prefix]:
            del self._open[call.prefix]

    def put(self, call: Call) -> None:
        """Let a call wait for its server.

        What begins alike goes to one server, unless it is more than one should have: then each agent has a
        server, which keeps what it has computed of that agent's past.
        """
        servers = self._servers
        fair = SLACK + BOUND * (1 + sum(server.load for server in servers)) / len(servers)
        key = call.prefix if self._open[call.prefix] <= fair else call.agent
        index = choose(self._ring.walk(key), servers, call.avoid)
        servers[next(self._ring.walk(key)) if index is None else index].push(call)

    def steal(self) -> Call | None:
        """Take a call from the longest queue."""
        return max(self._servers, key=lambda server: server.n_queued).pop()

    def leave(self, server: Server) -> None:
        """Let what waits for a server wait for others."""
        for call in list(server.drain()):
            self.put(call)

    def drain(self) -> Iterator[Call]:
        """Take out everything."""
        for server in self._servers:
            yield from server.drain()

"""Looking after servers beside their requests: queues read, sick ones examined, late replies hedged."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from engine.errors import ModelError
from engine.models.protocol import Catalogue
from engine.models.settings import Vllm
from engine.models.vllm.bodies import Bodies
from engine.models.vllm.breaker import State
from engine.models.vllm.call import Call
from engine.models.vllm.detect import Unreachable, detect
from engine.models.vllm.dispatch import Dispatcher
from engine.models.vllm.metrics import queue_length
from engine.models.vllm.server import Server
from engine.models.vllm.wire import Failure, Kind

LIVELY_S = 5.0
"""While a healthy server has been at a reply for so long, the reply may well come: this is no outage."""
MAX_SILENT = 3
"""So many unanswered looks in a row, and a server is taken for dead."""

log = logging.getLogger("simtui.models.vllm")


class Watch:
    """Runs beside a dispatcher."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: Vllm,
        catalogue: Catalogue,
        *,
        clock: Callable[[], float],
        look_s: float,
        tick_s: float,
    ) -> None:
        """Look at each server every `look_s` seconds, at the queues every `tick_s`."""
        self._dispatcher = dispatcher
        self._settings = settings
        self._catalogue = catalogue
        self._clock = clock
        self._look_s = look_s
        self._tick_s = tick_s
        self._idle_since: float | None = None

    async def tick(self) -> None:
        """Look at the queues until cancelled."""
        while True:
            await asyncio.sleep(self._tick_s)
            now = self._clock()
            self._hedge(now)
            if self._is_outage(now):
                self._dispatcher.fail_waiting()
            self._dispatcher.pump()  # pauses may be over

    async def look_after(self, server: Server) -> None:
        """Look at a server until cancelled."""
        silent = 0
        while True:
            await asyncio.sleep(self._look_s)
            server.connection.http.sweep(asyncio.get_running_loop().time())
            if server.breaker.is_due(self._clock()):
                await self.examine(server)
            elif server.attempts and server.breaker.state is State.CLOSED:
                failed = await self._look(server)
                silent = silent + 1 if failed and failed.kind is Kind.SICK else 0
                if failed and (failed.kind is Kind.GONE or silent >= MAX_SILENT):
                    self._dispatcher.leave(server, failed._replace(kind=Kind.GONE))
                    self._dispatcher.pump()

    async def examine(self, server: Server) -> None:
        """Ask a server what it is; one that is what it was gets a request on trial."""
        try:
            await self.meet(server)
        except ModelError as error:
            self.give_up(server, error.what)
        except Unreachable as error:
            self.give_up(server, str(error))
        else:
            server.breaker.try_again()
            self._dispatcher.pump()

    def give_up(self, server: Server, reason: str) -> None:
        """Let a server be for a while."""
        server.breaker.open(self._clock(), reason)
        server.trouble = reason

    async def meet(self, server: Server) -> None:
        """Ask a server what it is, and take it into use.

        Raises Unreachable, and ModelError if the server is of no use, another than before, or unlike others.
        """
        settings = self._settings
        features = await detect(server.connection, settings.model, settings.extra, logprobs=settings.logprobs)
        if server.bodies is not None and not features.same_as(server.features):
            raise ModelError("the server is not what it was at first", where=server.name)
        for other in self._dispatcher.servers:
            if other.bodies is not None and features.must_equal != other.features.must_equal:
                raise ModelError(
                    f"the server differs from {other.name}",
                    where=server.name,
                    hint=f"{features.must_equal} and {other.features.must_equal}",
                )
        server.features = features
        server.window.tells_queue = features.metrics
        server.bodies = Bodies(features, self._catalogue, settings.extra)

    async def _look(self, server: Server) -> Failure | None:
        page = "metrics" if server.features.metrics else "health"
        answer = await server.connection.get(f"{server.connection.address.root}/{page}", limit_s=LIVELY_S)
        if isinstance(answer, Failure):
            return answer
        found = queue_length(answer) if server.features.metrics else None
        if found is not None:
            server.window.queued(self._clock(), found.running, found.waiting)
        return None

    def _hedge(self, now: float) -> None:
        after_s = self._settings.hedge_after_s
        if after_s is None:
            return
        for server in self._dispatcher.servers:
            for attempt in list(server.attempts):
                if now - attempt.sent < after_s:
                    break  # the others were sent later
                if len(attempt.call.attempts) == 1:
                    self._ask_another(attempt.call, server, now)

    def _ask_another(self, call: Call, server: Server, now: float) -> None:
        for other in self._dispatcher.servers:
            if other is not server and not other.n_queued and other.room(now) > 0:
                self._dispatcher.send(other, call, now)
                return

    def _is_outage(self, now: float) -> bool:
        dispatcher = self._dispatcher
        if dispatcher.queues.n_open:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        elif now - self._idle_since > LIVELY_S:
            dispatcher.trouble_since = None  # an old failure is no part of a new outage
        if dispatcher.queues.n_open and not any(server.capacity for server in dispatcher.servers):
            dispatcher.note_trouble(now)
        since = dispatcher.trouble_since
        return since is not None and now - since > self._settings.outage_s and not self._is_lively(now)

    def _is_lively(self, now: float) -> bool:
        return any(
            now - next(iter(server.attempts)).sent > LIVELY_S
            for server in self._dispatcher.servers
            if server.attempts and server.breaker.state is State.CLOSED
        )

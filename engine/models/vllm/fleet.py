"""All that a run needs to talk to its servers, put together and taken apart again."""

from __future__ import annotations

import logging
import resource
from collections.abc import Callable, Mapping
from datetime import datetime
from random import Random
from typing import Any

from engine.errors import ModelError
from engine.models.protocol import Catalogue
from engine.models.settings import Vllm
from engine.models.vllm.address import Address, address
from engine.models.vllm.bodies import checked_extra
from engine.models.vllm.breaker import Breaker
from engine.models.vllm.connection import Connection
from engine.models.vllm.credentials import ApiKey, api_key
from engine.models.vllm.dispatch import Dispatcher
from engine.models.vllm.launch import Launcher
from engine.models.vllm.reach import reach
from engine.models.vllm.sending import Tasks
from engine.models.vllm.server import Server
from engine.models.vllm.watch import Watch
from engine.models.vllm.window import Window

SPARE_FILES = 256
"""Open files that are not connections to servers."""

log = logging.getLogger("simtui.models.vllm")


class Fleet:
    """The servers of one model, and what runs beside them."""

    def __init__(
        self,
        settings: Vllm,
        catalogue: Catalogue,
        seed: int,
        *,
        clock: Callable[[], float],
        now: Callable[[], datetime],
        launcher: Launcher | None,
    ) -> None:
        self._launcher = launcher
        self._settings = settings
        self._catalogue = catalogue
        self._seed = seed
        self._clock = clock
        self._now = now
        self._tasks = Tasks()
        self._servers: list[Server] = []
        self.dispatcher: Dispatcher | None = None

    async def open(self, environment: Mapping[str, str], pace: tuple[float, float]) -> dict[str, Any]:
        """Reach the servers; return what the manifest should say. Raises ModelError."""
        settings = self._settings
        checked_extra(settings.extra)
        key = api_key(settings, environment)
        places = [(address(text), key) for text in settings.servers]
        if self._launcher is not None:
            places += [(place, self._launcher.key) for place in await self._launcher.start()]
        if not places:
            raise ModelError(
                "there is no server",
                where="model.servers",
                hint='list base URLs, for example ["http://gpu1:8000"], or let the run start servers:'
                " model.launch.model",
            )
        if len({place for place, _ in places}) < len(places):
            raise ModelError("a server is listed twice", where="model.servers")
        rng = Random(self._seed)
        most = affordable(settings.max_in_flight, len(places))
        self._servers = [self._server(i, place, own, most, rng) for i, (place, own) in enumerate(places)]
        dispatcher = Dispatcher(
            self._servers,
            self._catalogue,
            settings,
            self._seed,
            tasks=self._tasks,
            clock=self._clock,
            rng=rng,
        )
        watch = Watch(
            dispatcher, settings, self._catalogue, clock=self._clock, look_s=pace[0], tick_s=pace[1]
        )
        facts = await reach(self._servers, watch, settings)
        self._tasks.start(watch.tick())
        for server in self._servers:
            self._tasks.start(watch.look_after(server))
        self.dispatcher = dispatcher
        return facts

    async def close(self) -> None:
        """Give up what is under way, close all connections, and stop what was started."""
        if self.dispatcher is not None:
            self.dispatcher.close()
        await self._tasks.stop()
        for server in self._servers:
            server.connection.http.close()
        if self._launcher is not None:
            await self._launcher.stop()

    def _server(self, index: int, place: Address, key: ApiKey, most: int, rng: Random) -> Server:
        idle_s = self._settings.idle_s
        connection = Connection(place, key, idle_s, self._now)
        return Server(index, connection, Window(most, idle_s / 3, rng), Breaker(rng))


def affordable(most: int, n_servers: int) -> int:
    """Return how many connections each server may have, after asking the system for that many open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = most * n_servers + SPARE_FILES
    if soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    allowed = max(1, (soft - SPARE_FILES) // n_servers)
    if allowed < most:
        log.warning("at most %d requests a server at a time: the system allows %d open files", allowed, soft)
    return min(most, allowed)

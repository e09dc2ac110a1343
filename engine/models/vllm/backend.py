"""The backend for servers: finds out what they take, keeps them full, and answers every request once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError
from engine.installation import how_to_install
from engine.models.protocol import Catalogue, Deliver, Finish, Request, Result
from engine.models.settings import Vllm

if TYPE_CHECKING:
    from engine.models.vllm.dispatch import Dispatcher
    from engine.models.vllm.fleet import Fleet

LOOK_S, TICK_S = 1.0, 0.1


class VllmBackend:
    """Requests in, results out; everything between is asyncio on the service's event loop."""

    def __init__(
        self,
        settings: Vllm,
        catalogue: Catalogue,
        seed: int,
        directory: Path,
        *,
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        look_s: float = LOOK_S,
        tick_s: float = TICK_S,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`seed` is the run's; logs of servers that are started go to `directory`, how they do to `tell`."""
        self._settings = settings
        self._catalogue = catalogue
        self._seed = seed
        self._directory = directory
        self._environment = os.environ if environment is None else environment
        self._clock = clock
        self._now = now
        self._pace = look_s, tick_s
        self._tell = tell
        self._fleet: Fleet | None = None
        self.dispatcher: Dispatcher | None = None

    async def open(self) -> dict[str, Any]:
        """Reach the servers, after starting those that the run starts itself. Raises ModelError."""
        try:
            from engine.models.vllm.fleet import Fleet
            from engine.models.vllm.launch import Launcher
        except ImportError as error:
            raise ModelError(
                "the package for HTTP is not installed",
                where="model.backend",
                hint=how_to_install("vllm"),
            ) from error
        launcher = None
        if self._settings.launch.model:
            launcher = Launcher(self._settings, self._directory, self._environment, self._tell)
        self._fleet = Fleet(
            self._settings,
            self._catalogue,
            self._seed,
            clock=self._clock,
            now=self._now,
            launcher=launcher,
        )
        facts = await self._fleet.open(self._environment, self._pace)
        self.dispatcher = self._fleet.dispatcher
        return facts

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Take a batch; every request is answered once, through `deliver`, in the event loop."""
        if self.dispatcher is None:
            deliver([Result(request.key, "the backend is not open", Finish.ERROR) for request in requests])
        else:
            self.dispatcher.submit(requests, deliver)

    async def close(self) -> None:
        """Close all connections, and stop the servers that the run has started."""
        self.dispatcher = None
        if self._fleet is not None:
            await self._fleet.close()

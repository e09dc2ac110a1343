"""Starting servers on this machine for a run, keeping them up, and stopping them at its end."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.errors import ModelError
from engine.models.settings import Vllm
from engine.models.vllm.address import Address, address
from engine.models.vllm.credentials import ApiKey
from engine.models.vllm.exchanges import Broken
from engine.models.vllm.http1 import Client, NotConnected
from engine.models.vllm.launch_plan import gpu_groups, plan, visible_gpus
from engine.models.vllm.replica import Replica

POLL_S = 0.25
TELL_S = 15.0
"""How often it is told that a server is still starting, with the last line of its log."""
AGAIN_S = 1.0

log = logging.getLogger("simtui.models.vllm")


class Launcher:
    """The servers that a run has started."""

    def __init__(
        self,
        settings: Vllm,
        directory: Path,
        variables: Mapping[str, str],
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Logs go to `directory`; `variables` is the environment that servers inherit."""
        self._tell = tell
        self._launch = settings.launch
        self._name = settings.model or Path(settings.launch.model).name
        self._directory = directory
        self._variables = variables
        secret = secrets.token_urlsafe(24)
        self._secret, self.key = secret, ApiKey(secret)
        self._replicas: list[Replica] = []
        self._keeping: list[asyncio.Task[None]] = []

    async def start(self) -> list[Address]:
        """Start all and wait until they are ready. Raises ModelError, with the reason from the log."""
        groups = gpu_groups(self._launch, await asyncio.to_thread(visible_gpus, self._variables))
        self._replicas = [self._replica(number, gpus) for number, gpus in enumerate(groups)]
        self._tell(f"starting {len(groups)} times vllm serve {self._launch.model}")
        try:
            for replica in self._replicas:
                await replica.start()
            await asyncio.gather(*(self._ready(replica) for replica in self._replicas))
        except OSError as error:
            raise ModelError(
                f"the servers cannot be started: {error.strerror}", where=str(self._directory)
            ) from error
        self._keeping = [asyncio.create_task(self._keep(replica)) for replica in self._replicas]
        return [address(f"http://127.0.0.1:{replica.port}") for replica in self._replicas]

    async def stop(self) -> None:
        """End all servers, and wait until they have ended."""
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)
        await asyncio.gather(*(replica.stop() for replica in self._replicas))

    def _replica(self, number: int, gpus: str) -> Replica:
        port = _free_port()
        made = plan(self._launch, self._variables, name=self._name, gpus=gpus, port=port, key=self._secret)
        return Replica(f"server {number}", port, made, self._directory / f"{number}.log")

    async def _ready(self, replica: Replica) -> None:
        """Wait until a server answers. Raises ModelError if it ends or takes too long."""
        loop = asyncio.get_running_loop()
        client = Client("127.0.0.1", replica.port, False, {}, self._launch.ready_s)
        deadline, tell_at = loop.time() + self._launch.ready_s, loop.time() + TELL_S
        try:
            while not await _is_healthy(client):
                if not replica.running:
                    raise self._failed(replica, "ended while it was starting")
                if loop.time() > deadline:
                    raise self._failed(replica, f"was not ready after {self._launch.ready_s:g} s")
                if loop.time() > tell_at:
                    self._tell_of(replica, f"is starting: {''.join(replica.last_lines(1))}")
                    tell_at += TELL_S
                await asyncio.sleep(POLL_S)
        finally:
            client.close()
        self._tell_of(replica, f"is ready on port {replica.port}")

    def _tell_of(self, replica: Replica, what: str) -> None:
        log.info("%s %s", replica.name, what)
        self._tell(f"{replica.name} {what}")

    async def _keep(self, replica: Replica) -> None:
        """Start a server again whenever it dies, as often as the preset allows."""
        for restart in range(self._launch.restarts + 1):
            await replica.ended()
            log.warning("%s died (its log is %s): %s", replica.name, replica.log, replica.why())
            self._tell(f"{replica.name} died; its log is {replica.log}")
            if restart < self._launch.restarts:
                await asyncio.sleep(AGAIN_S)
                await replica.start()
        log.error("%s is not started again: it has died %d times", replica.name, self._launch.restarts + 1)

    def _failed(self, replica: Replica, what: str) -> ModelError:
        return ModelError(
            f"{replica.name} {what}",
            where="model.launch",
            hint=f"{replica.why()}\n  Its whole log is {replica.log}",
        )


async def _is_healthy(client: Client) -> bool:
    try:
        async with asyncio.timeout(POLL_S * 8):
            return (await client.request("GET", "/health")).status == 200
    except (NotConnected, Broken, TimeoutError):
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port

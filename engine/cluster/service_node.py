"""A model service: one backend between the workers' requests and its replies."""

from __future__ import annotations

import asyncio
import os
import time

import msgspec
import zmq

from engine.cluster import backends
from engine.cluster.link import Context, Frames, Link
from engine.cluster.setup import Setup
from engine.cluster.trouble import trouble_of
from engine.cluster.wire import Allow, Failed, Progress, Ready, Shutdown, ToCoordinator, Told, ToService, Work
from engine.models.protocol import Catalogue, RequestBatch, Result, ResultBatch

REPORT_S = 0.25


class ServiceNode:
    """Runs on an event loop, in a process of its own or inside the coordinator's."""

    def __init__(self, setup: Setup, name: str, context: Context) -> None:
        self._address = setup.endpoints.model(name)
        self._catalogue = Catalogue()
        self._name = name
        self._backend, self._gate = backends.make(
            setup, name, self._catalogue, lambda text: self._tell(Told(text))
        )
        self._requests = msgspec.msgpack.Decoder(RequestBatch)
        self._orders = msgspec.msgpack.Decoder(ToService)
        self._encode = msgspec.msgpack.Encoder().encode
        self._askers: dict[int, bytes] = {}
        self._kept: dict[int, Result] = {}
        """Replies to workers that have died; whoever takes their place will ask for them."""
        self._over = asyncio.Event()
        self._coordinator = Link(context, zmq.DEALER, self._ordered).connect(
            setup.endpoints.coordinator, f"model-{name}".encode()
        )
        self._workers = Link(context, zmq.ROUTER, self._asked)

    async def run(self) -> None:
        """Load the model, serve until told to end, and give everything back."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, details: self._fail(details.get("exception")))
        reports = loop.create_task(self._report())
        try:
            description = await self._backend.open()
            self._workers.bind(self._address)
            self._tell(Ready(os.getpid(), description))
            await self._over.wait()
        except Exception as error:
            self._fail(error)
            await self._over.wait()
        finally:
            reports.cancel()
            await self._backend.close()
            self._workers.close()
            self._coordinator.close(linger_s=1.0)

    def _asked(self, frames: Frames) -> None:
        worker, payload = frames
        batch = self._requests.decode(payload)
        self._catalogue.learn(batch)
        # What refers to something unknown was meant for the service before this one, and will be sent again.
        requests = [request for request in batch.requests if self._catalogue.knows(request)]
        known = [request.key for request in requests if request.key in self._kept]
        fresh = [r for r in requests if r.key not in self._askers and r.key not in self._kept]
        for request in requests:
            self._askers[request.key] = worker
        if known:
            self._deliver([self._kept.pop(key) for key in known])
        if fresh:
            self._backend.submit(fresh, self._deliver)

    def _deliver(self, results: list[Result]) -> None:
        by_worker: dict[bytes, list[Result]] = {}
        for result in results:
            by_worker.setdefault(self._askers.pop(result.key), []).append(result)
        for worker, part in by_worker.items():
            if not self._workers.send([worker, self._encode(ResultBatch(part))]):
                self._kept.update((result.key, result) for result in part)

    def _ordered(self, frames: Frames) -> None:
        match self._orders.decode(frames[0]):
            case Allow(tokens, money):
                assert self._gate is not None, "only a gate asks for an allowance"
                self._gate.allow(tokens, money)
            case Shutdown():
                self._over.set()

    def _fail(self, error: BaseException | None) -> None:
        self._tell(Failed(trouble_of(error or RuntimeError("the event loop reported an error"))))

    def _tell(self, *messages: ToCoordinator) -> None:
        """Send messages behind the sums so far: loading the model is no round's cost."""
        work = Work(cpu_s=time.process_time(), n_open=len(self._askers))
        if self._gate is not None:
            work.spent, work.n_held = [(self._name, 0, self._gate.spent)], self._gate.n_held
        self._coordinator.send([self._encode([Progress(work), *messages])])

    async def _report(self) -> None:
        while True:
            self._tell()
            await asyncio.sleep(REPORT_S)

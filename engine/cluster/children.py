"""Worker and service processes: started before any thread or socket, watched, and never left behind."""

from __future__ import annotations

import asyncio
import logging
import logging.handlers
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from typing import Any, TypeAlias

import msgspec
import zmq

from engine.cluster.collector import spare_the_living
from engine.cluster.link import Context, Link
from engine.cluster.service_node import ServiceNode
from engine.cluster.setup import Setup
from engine.cluster.trouble import trouble_of
from engine.cluster.wire import Failed
from engine.cluster.worker_node import WorkerNode

LogQueue: TypeAlias = "Queue[logging.LogRecord]"
Make: TypeAlias = Callable[[Context], WorkerNode | ServiceNode]
WATCH_S = 0.5
"""How often a child looks whether its coordinator is alive; so long may an orphan live."""
FAREWELL_S = 2.0
"""How long last messages may take to go out."""


class Child:
    """One process of the run, named as its links are."""

    def __init__(self, name: str, process: BaseProcess) -> None:
        self.name = name
        self.process = process

    @property
    def sentinel(self) -> int:
        """Becomes readable when the process ends."""
        return self.process.sentinel

    def how_it_ended(self) -> str:
        """Say how, in words."""
        self.process.join()
        code = self.process.exitcode or 0
        if code < 0:
            return f"was killed by {signal.Signals(-code).name} (process {self.process.pid})"
        return f"ended with exit code {code} (process {self.process.pid})"


class Children:
    """All processes that the coordinator has started."""

    def __init__(self, setup: Setup, queue: LogQueue) -> None:
        self._setup = setup
        self._queue = queue
        self.all: list[Child] = []

    def start(self) -> None:
        """Start the workers and the model services."""
        fork = self._setup.preset.engine.start == "fork"
        for index in range(self._setup.placement.n_workers):
            self._start(f"worker-{index}", "fork" if fork else "spawn", _worker_main, index)
        if not self._setup.replay_of:
            for model in self._setup.models:
                self._start_service(model)

    def restart_service(self, name: str) -> Child:
        """Replace a model service that has ended."""
        self.all = [child for child in self.all if child.name != name]
        return self._start_service(name.removeprefix("model-"))

    def end_workers(self) -> None:
        """Kill all workers, and do not come back before they are gone."""
        for child in self.workers:
            child.process.kill()
            child.process.join()
        self.all = [child for child in self.all if child not in self.workers]

    def start_workers_again(self, setup: Setup) -> list[Child]:
        """Start workers that rebuild their agents from the journal; by now there are threads, so no forks."""
        self._setup = setup
        for index in range(setup.placement.n_workers):
            self._start(f"worker-{index}", "spawn", _worker_main, index)
        return self.workers

    @property
    def workers(self) -> list[Child]:
        """Those of the children that are workers."""
        return [child for child in self.all if child.name.startswith("worker-")]

    def _start_service(self, model: str) -> Child:
        """Native libraries do not survive a fork, so a service is spawned in any case."""
        return self._start(f"model-{model}", "spawn", _service_main, model)

    def _start(self, name: str, method: str, main: Callable[..., None], which: int | str) -> Child:
        make: Any = multiprocessing.get_context(method)
        arguments = (self._setup, which, self._queue, os.getpid())
        child = Child(name, make.Process(target=main, args=arguments, name=name))
        child.process.start()
        self.all.append(child)
        return child

    async def end(self, grace_s: float) -> None:
        """Wait for all to end, and kill those that have not after `grace_s` seconds."""
        deadline = time.monotonic() + grace_s
        while any(child.process.is_alive() for child in self.all) and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        self.kill()

    def kill(self) -> None:
        """End all at once, and do not come back before they are gone."""
        for child in self.all:
            child.process.kill()
            child.process.join()


def _worker_main(setup: Setup, index: int, queue: LogQueue, parent: int) -> None:
    _begin_child(queue, sum(len(share.members) for share in setup.placement.on(index)))
    node: WorkerNode | None = None

    def look(_signal: int, _frame: object) -> None:
        _exit_if_orphaned(parent, setup)
        if node is not None:
            node.worker.scheduler.interrupt_if_stuck()

    signal.signal(signal.SIGALRM, look)
    period = min(WATCH_S, setup.preset.engine.deadline_s / 2)
    signal.setitimer(signal.ITIMER_REAL, period, period)

    def make(context: Context) -> WorkerNode:
        nonlocal node
        node = WorkerNode(setup, index, context)
        return node

    _serve(make, setup.worker_name(index), setup)


def _service_main(setup: Setup, model: str, queue: LogQueue, parent: int) -> None:
    _begin_child(queue)

    def watch() -> None:
        while True:
            time.sleep(WATCH_S)
            _exit_if_orphaned(parent, setup)

    threading.Thread(target=watch, daemon=True, name="orphan-watch").start()

    _serve(lambda context: ServiceNode(setup, model, context), f"model-{model}", setup)


def _begin_child(queue: LogQueue, n_agents: int = 0) -> None:
    """Leave signals of the terminal to the coordinator, and send log records to its file."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    root = logging.getLogger()
    root.handlers = [logging.handlers.QueueHandler(queue)]
    root.setLevel(logging.INFO)
    spare_the_living(n_agents)
    queue.cancel_join_thread()  # a child must not wait at exit for a coordinator that is gone


def _exit_if_orphaned(parent: int, setup: Setup) -> None:
    if os.getppid() != parent:
        setup.endpoints.remove()
        os._exit(1)


def _serve(make: Make, name: str, setup: Setup) -> None:
    context: Context = zmq.Context()
    asyncio.run(serve(make, name, setup, context))
    context.term()


async def serve(make: Make, name: str, setup: Setup, context: Context) -> None:
    """Run a node to its end; one that cannot even be made tells the coordinator why."""
    try:
        node = make(context)
    except Exception as error:
        link = Link(context, zmq.DEALER, lambda _: None).connect(setup.endpoints.coordinator, name.encode())
        link.send([msgspec.msgpack.encode([Failed(trouble_of(error))])])
        link.close(linger_s=FAREWELL_S)
    else:
        await node.run()

"""A worker's sockets and loop: moves bytes between links and worker, and runs it when there is work."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec

import msgspec
import zmq

from engine.agents.post import Post
from engine.cluster.ledger import Ledger
from engine.cluster.link import Context, Frames, Link
from engine.cluster.running_marks import RunningMarks
from engine.cluster.setup import Setup
from engine.cluster.stopwatch import Phase, Stopwatch
from engine.cluster.trouble import trouble_of
from engine.cluster.wire import (
    AskAgain,
    Begin,
    Failed,
    Progress,
    Ready,
    Settle,
    Shutdown,
    StandStill,
    ToCoordinator,
    ToWorker,
    Work,
    Written,
)
from engine.cluster.worker import Worker
from engine.journal.batch import JournalBatch
from engine.journal.transcripts import Transcripts
from engine.models.protocol import RequestBatch, ResultBatch

REPORT_S = 0.25

P = ParamSpec("P")


def _telling(
    callback: Callable[Concatenate[WorkerNode, P], None],
) -> Callable[Concatenate[WorkerNode, P], None]:
    """Make errors of a callback the node's own: nodes of one process share an event loop and its handler."""

    @wraps(callback)
    def told(node: WorkerNode, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(node, *args, **kwargs)
        except Exception as error:
            node._fail(error)

    return told


class WorkerNode:
    """Runs on an event loop, in a process of its own or inside the coordinator's."""

    def __init__(self, setup: Setup, index: int, context: Context) -> None:
        preset = setup.preset
        self._loop = asyncio.get_running_loop()
        self._setup = setup
        self._endpoints = setup.endpoints
        self._context = context
        self._name = setup.worker_name(index).encode()
        self._encode = msgspec.msgpack.Encoder().encode
        self._orders = msgspec.msgpack.Decoder(ToWorker)
        self._results = msgspec.msgpack.Decoder(ResultBatch)
        self._posts = msgspec.msgpack.Decoder(Post)
        self._watch = Stopwatch(time.perf_counter)
        self._over = asyncio.Event()
        self._pump_is_due = False
        self.worker = Worker(
            index,
            setup,
            ledger=Ledger(Transcripts.parse(preset.journal.transcripts), preset.journal.max_text_chars),
            outbox=self,
            clock=time.monotonic,
            wake=self._schedule_pump,
        )
        marks = RunningMarks(setup.endpoints.folder, setup.placement.n_workers)
        self.worker.scheduler.mark = marks.of(index)
        self._coordinator = Link(context, zmq.DEALER, self._ordered)
        self._models: dict[str, Link] = {}
        self._model_names = list(setup.models)
        self._inbox = Link(context, zmq.PULL, self._posted)
        self._peers: dict[int, Link] = {}

    async def run(self) -> None:
        """Serve until told to end."""
        self._loop.set_exception_handler(lambda _, details: self._fail(details.get("exception")))
        self._inbox.bind(self._endpoints.worker(self._setup.worker_name(self.worker.index)))
        self._models = {name: self._link_to(name) for name in self._model_names}
        self._coordinator.connect(self._endpoints.coordinator, self._name)
        self.to_coordinator([Ready(os.getpid())])
        reports = self._loop.create_task(self._report())
        await self._over.wait()
        reports.cancel()
        for link in (self._inbox, self._coordinator, *self._models.values(), *self._peers.values()):
            link.close(linger_s=1.0)

    def to_model(self, model: str, batch: RequestBatch) -> None:
        self._send(self._models[model], self._encode(batch))

    def to_worker(self, worker: int, post: Post) -> None:
        if worker not in self._peers:
            self._peers[worker] = Link(self._context, zmq.PUSH, _ignore).connect(
                self._endpoints.worker(self._setup.worker_name(worker)), b""
            )
        self._send(self._peers[worker], self._encode(post))

    def to_journal(self, batch: JournalBatch) -> None:
        self._send(self._coordinator, b"", self._encode(batch))

    def to_coordinator(self, messages: list[ToCoordinator]) -> None:
        self._send(self._coordinator, self._encode([Progress(self._work()), *messages]))

    def _send(self, link: Link, *frames: bytes) -> None:
        link.send(frames)

    @_telling
    def _ordered(self, frames: Frames) -> None:
        self._watch.enter(Phase.MESSAGES)
        match self._orders.decode(frames[0]):
            case Begin() as order:
                self.worker.begin(order)
            case Settle() as settlement:
                self.worker.settle(settlement)
            case Written(rows):
                self.worker.written(rows)
            case AskAgain(model):
                self._ask_again(model)
            case StandStill():
                self.worker.stand_still()
            case Shutdown():
                self._over.set()
        self._schedule_pump()

    def _ask_again(self, model: str) -> None:
        """Replace the link: what the old one still holds would be asked twice."""
        self._models[model].close()
        self._models[model] = self._link_to(model)
        self.worker.models[model].again()

    def _link_to(self, model: str) -> Link:
        link = Link(self._context, zmq.DEALER, partial(self._answered, model))
        return link.connect(self._endpoints.model(model), self._name)

    @_telling
    def _answered(self, model: str, frames: Frames) -> None:
        self._watch.enter(Phase.MESSAGES)
        results = self._results.decode(frames[0]).results
        self._watch.enter(Phase.AGENTS)
        self.worker.take_results(model, results)
        self._flush(everything=False)
        self._schedule_pump()

    @_telling
    def _posted(self, frames: Frames) -> None:
        self._watch.enter(Phase.MESSAGES)
        post = self._posts.decode(frames[0])
        self._watch.enter(Phase.AGENTS)
        self.worker.take_post(post)
        self._schedule_pump()

    def _schedule_pump(self) -> None:
        if not self._pump_is_due:
            self._pump_is_due = True
            self._loop.call_soon(self._pump)

    @_telling
    def _pump(self) -> None:
        self._pump_is_due = False
        self._watch.enter(Phase.AGENTS)
        more = self.worker.work()
        self._flush(everything=not more)
        if more:
            self._schedule_pump()
        else:
            self._watch.enter(Phase.MODEL if self.worker.n_open else Phase.IDLE)

    def _flush(self, everything: bool) -> None:
        self._watch.enter(Phase.MESSAGES)
        self.worker.flush(everything)

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(REPORT_S)
            self._look()

    @_telling
    def _look(self) -> None:
        self.worker.expire()
        self.to_coordinator([])
        self._schedule_pump()

    def _work(self) -> Work:
        model_s, agents_s, messages_s, idle_s = self._watch.spent
        return Work(
            cpu_s=time.process_time(),
            model_s=model_s,
            agents_s=agents_s,
            messages_s=messages_s,
            idle_s=idle_s,
            n_done=self.worker.n_done,
            n_open=self.worker.n_open,
            failures=dict(self.worker.failures),
            spent=self.worker.spent,
            n_unsent=self.worker.n_unsent,
        )

    def _fail(self, error: BaseException | None) -> None:
        self.worker.flush_journal()  # among the rows is what has led to the error
        self.to_coordinator([Failed(trouble_of(error or RuntimeError("the event loop reported an error")))])


def _ignore(frames: Any) -> None:
    """A PUSH socket receives nothing."""

"""The coordinator's sockets, children, signals and files."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import msgspec
import zmq

from engine.cluster.children import Child, Children
from engine.cluster.control import Command, Event, Finished, Notice, Stop, Watch
from engine.cluster.coordinator import Coordinator
from engine.cluster.link import Context, Frames, Link
from engine.cluster.run_files import RunFiles
from engine.cluster.running_marks import RunningMarks
from engine.cluster.setup import Setup
from engine.cluster.wire import Shutdown, ToCoordinator, ToService, ToWorker
from engine.cluster.writing import PROCESS
from engine.errors import JournalError, SimtuiError
from engine.journal.batch import JournalBatch
from engine.models.protocol import RequestBatch, ResultBatch

SNAPSHOT_S = 0.25
SETTLE_S = 0.004
"""How long rows wait for others to be committed with them: larger transactions cost less a row."""
HEARING_S = 5.0
"""How long a run that is over waits for whoever started it to listen."""
GRACE_S = 5.0
"""Children that have not ended this long after being told are killed; at once while some are still starting,
for those hear nothing and have nothing to save."""

log = logging.getLogger("simtui.coordinator")


class CoordinatorNode:
    """Owns the run: whoever else is lost, this process notices, closes the files and says so."""

    def __init__(self, setup: Setup, files: RunFiles, children: Children, context: Context) -> None:
        self._loop = asyncio.get_running_loop()
        self._setup = setup
        self._context = context
        self._files = files
        self._children = children
        self._encode = msgspec.msgpack.Encoder().encode
        self._messages = msgspec.msgpack.Decoder(list[ToCoordinator])
        self._batches = msgspec.msgpack.Decoder(JournalBatch)
        self._results = msgspec.msgpack.Decoder(ResultBatch)
        self._asking: dict[str, Link] = {}
        """Links to model services that have requests of this process."""
        self._commands = msgspec.msgpack.Decoder(Command)
        self._over = asyncio.Event()
        self._watchers: set[bytes] = set()
        self._watched = asyncio.Event()
        self._settling = False
        self._marks = RunningMarks(setup.endpoints.folder, setup.placement.n_workers)
        self._core = Coordinator(setup, files, self, clock=time.monotonic, now=time.time)
        self._processes = Link(context, zmq.ROUTER, self._reported).bind(setup.endpoints.coordinator)
        self._control = Link(context, zmq.ROUTER, self._commanded).bind(setup.endpoints.control)

    async def run(self, lifeline: int | None) -> Finished:
        """See the run through and return its last word."""
        self._loop.set_exception_handler(lambda _, details: self._broken(details.get("exception")))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self._loop.add_signal_handler(number, self._core.stop, f"got {signal.Signals(number).name}")
        if lifeline is not None:
            self._loop.add_reader(lifeline, self._owner_left, lifeline)
        for child in self._children.all:
            self._watch(child)
        ticks = self._loop.create_task(self._tick())
        await self._over.wait()
        ticks.cancel()
        if lifeline is not None:  # our starter is there, but its first word may still be on the way
            with suppress(TimeoutError):
                await asyncio.wait_for(self._watched.wait(), HEARING_S)
        return await self._close()

    def order(self, worker: int, message: ToWorker) -> None:
        self._processes.send([self._setup.worker_name(worker).encode(), self._encode(message)])

    def instruct(self, service: str, message: ToService) -> None:
        self._processes.send([service.encode(), self._encode(message)])

    def ask(self, model: str, batch: RequestBatch) -> None:
        if model not in self._asking:
            link = Link(self._context, zmq.DEALER, self._answered)
            self._asking[model] = link.connect(self._setup.endpoints.model(model), PROCESS.encode())
        self._asking[model].send([self._encode(batch)])

    def retire_service(self, process: str) -> None:
        for child in self._children.all:
            if child.name == process:
                self._loop.remove_reader(child.sentinel)
        self.instruct(process, Shutdown())

    def emit(self, event: Event) -> None:
        if isinstance(event, Notice):
            log.log(getattr(logging, event.level.upper()), "%s", event.text)
        for watcher in self._watchers:
            self._control.send([watcher, self._encode(event)])

    def restart_service(self, process: str) -> None:
        if link := self._asking.pop(process.removeprefix("model-"), None):
            link.close()  # what it still holds would be asked twice
        self._watch(self._children.restart_service(process))

    def restart_workers(self) -> None:
        for child in self._children.workers:
            self._loop.remove_reader(child.sentinel)
        self._children.end_workers()
        self._marks.clear()
        self._setup = self._setup.again()
        for child in self._children.start_workers_again(self._setup):
            self._watch(child)

    def was_running(self, worker: int) -> int:
        return self._marks.read(worker)

    def end(self) -> None:
        self._over.set()

    def _reported(self, frames: Frames) -> None:
        process, _, attempt = frames[0].decode().partition("@")
        if attempt and int(attempt) != self._setup.attempt:
            return  # of a worker that has been replaced since: its agents do all of this again
        if len(frames) == 3:
            self._guard(lambda: self._core.rows(process, self._batches.decode(frames[2])))
            if not self._settling:
                self._settling = True
                self._loop.call_later(SETTLE_S, self._settle)
        else:
            for message in self._messages.decode(frames[1]):
                self._guard(partial(self._core.receive, process, message))

    def _answered(self, frames: Frames) -> None:
        self._guard(lambda: self._core.replies(self._results.decode(frames[0]).results))

    def _settle(self) -> None:
        """Commit once for all batches that have arrived in a while."""
        self._settling = False
        self._guard(self._core.settle)

    def _guard(self, action: Callable[[], None]) -> None:
        try:
            action()
        except SimtuiError as error:
            self._core.fail(error)
        except Exception as error:  # a scenario's code runs here, too
            self._broken(error)

    def _commanded(self, frames: Frames) -> None:
        client, payload = frames
        try:
            command = self._commands.decode(payload)
        except msgspec.DecodeError:
            log.warning("ignored a malformed command on the control link")
            return
        match command:
            case Watch():
                self._watchers.add(client)
                self._watched.set()
                people = [self._core.people] if self._core.people else []
                for event in (*people, *self._core.reports, self._core.snapshot()):
                    self._control.send([client, self._encode(event)])
            case Stop(reason):
                self._core.stop(reason)

    def _owner_left(self, lifeline: int) -> None:
        self._loop.remove_reader(lifeline)
        self._core.stop("whoever started the run has gone")

    def _watch(self, child: Child) -> None:
        self._loop.add_reader(child.sentinel, self._child_ended, child)

    def _child_ended(self, child: Child) -> None:
        self._loop.remove_reader(child.sentinel)
        self._guard(lambda: self._core.lost(child.name, child.how_it_ended()))

    def _broken(self, error: BaseException | None) -> None:
        log.error("unexpected error", exc_info=error)
        self._core.fail(
            SimtuiError(
                f"{type(error).__name__}: {error}",
                where="coordinator",
                hint="this is a defect: the traceback is in run.log",
            )
        )

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(SNAPSHOT_S)
            self._guard(self._look)

    def _look(self) -> None:
        self._core.look_for_standstill()
        self.emit(self._core.snapshot())

    async def _close(self) -> Finished:
        """Close the files before the last word is out: who hears it may open them."""
        for child in self._children.all:
            self._loop.remove_reader(child.sentinel)
        for model in self._setup.models:
            self._processes.send([f"model-{model}".encode(), self._encode(Shutdown())])
        for worker in range(self._setup.placement.n_workers):
            self.order(worker, Shutdown())
        last_word = self._core.last_word
        assert last_word is not None
        try:
            self._files.close(last_word.state)
        except JournalError as error:
            last_word = Finished("failed", error.exit_code, error.what, error.where, error.hint)
        self.emit(self._core.snapshot())
        self.emit(last_word)
        await self._children.end(GRACE_S if self._core.are_all_up else 0.0)
        self._control.close(linger_s=1.0)
        for link in (self._processes, *self._asking.values()):
            link.close()
        log.info("%s %s", last_word.state, last_word.what)
        return last_word

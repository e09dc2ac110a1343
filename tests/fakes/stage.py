"""A whole run in this process: the real coordinator, workers and journal; what lies between them is played.

What is on its way arrives in any order in which it may, and anything can die between two arrivals.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from engine.agents.post import Post
from engine.agents.scheduler import NOBODY
from engine.cluster.casualties import MAX_RESTARTS
from engine.cluster.control import Event, Finished
from engine.cluster.coordinator import Coordinator
from engine.cluster.endpoints import Endpoints
from engine.cluster.ledger import Ledger
from engine.cluster.setup import Setup
from engine.cluster.wire import AskAgain, Begin, Ready, Settle, ToCoordinator, ToWorker, Written
from engine.cluster.worker import Worker
from engine.journal.batch import JournalBatch
from engine.journal.reader import Reader
from engine.journal.rounds import Round
from engine.journal.transcripts import Transcripts
from engine.journal.writer import Writer
from engine.models.protocol import Catalogue, Request, RequestBatch, Result
from engine.preset.schema import Preset
from tests.fakes.improvise import form_of, reply_to
from tests.fakes.turns import Clock

MODEL = "model-default"


def by_prompt(request: Request, catalogue: Catalogue) -> str:
    """Reply to the whole conversation."""
    text = " ".join(message.content for message in catalogue.messages(request))
    return reply_to(form_of(catalogue.forms[request.form].answer), text)


def by_facts(request: Request, catalogue: Catalogue) -> str:
    """Reply as the policy "echo" does."""
    form, text = request.facts
    return reply_to(form, text)


class Files:
    """The journal of a run, without the files beside it."""

    def __init__(self, setup: Setup, now: Callable[[], float]) -> None:
        self.known_rounds: list[Round] = []
        self.known_usage: dict[int, Any] = {}
        if setup.past:
            with Reader(setup.past) as reader:
                self.known_rounds = reader.rounds()
        self.writer = Writer(setup.directory / "run.db", now=now)
        self.people = None

    def loaded(self, descriptions: dict[str, Any]) -> None:
        """Nothing keeps it."""


class Desk:
    """The outbox of one worker."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._name = name

    def to_model(self, model: str, batch: RequestBatch) -> None:
        self._send(MODEL, batch, self._stage.requested)

    def to_worker(self, worker: int, post: Post) -> None:
        self._send(
            self._stage.name(worker), post, lambda _, post: self._stage.workers[worker].take_post(post)
        )

    def to_journal(self, batch: JournalBatch) -> None:
        self._send("coordinator", batch, self._stage.journalled)

    def to_coordinator(self, messages: list[ToCoordinator]) -> None:
        for message in messages:
            self._send("coordinator", message, self._stage.told)

    def _send(self, to: str, thing: Any, arrive: Callable[[str, Any], None]) -> None:
        copy = msgspec.msgpack.decode(msgspec.msgpack.encode(thing), type=type(thing))
        self._stage.send(self._name, to, lambda: arrive(self._name, copy))


class Stage:
    """Plays a run. `order` says what arrives next, among what may."""

    def __init__(
        self,
        preset: Preset,
        directory: Path,
        order: Random,
        *,
        model: Callable[[Request, Catalogue], str] = by_prompt,
        now: Callable[[], float] = lambda: 0.0,
        **setup: Any,
    ) -> None:
        endpoints = Endpoints.in_folder("nowhere")
        self.setup = Setup(preset, directory, endpoints, directory, **setup)
        self.files = Files(self.setup, now)
        self.clock = Clock()
        self.asked: list[int] = []
        """Keys of all requests that have reached the model."""
        self.begun: list[int] = []
        """Rounds that groups were told to begin."""
        self.events: list[Event] = []
        self.workers: list[Worker] = []
        self.is_over = False
        self._order = order
        self._model = model
        self._fatal = NOBODY
        self._links: defaultdict[tuple[str, str], deque[Callable[[], None]]] = defaultdict(deque)
        self._waiting: dict[int, tuple[str, Request]] = {}
        self._kept: dict[int, Result] = {}
        self._catalogue = Catalogue()
        self.coordinator = Coordinator(self.setup, self.files, self, clock=self.clock, now=now)  # type: ignore[arg-type]
        self._start_workers()
        if not self.setup.replay_of:
            self.send(MODEL, "coordinator", lambda: self.coordinator.receive(MODEL, Ready(1)))

    def name(self, worker: int) -> str:
        """Return the name of a worker on its links."""
        return self.setup.worker_name(worker)

    def send(self, source: str, to: str, arrive: Callable[[], None]) -> None:
        """Put something on its way; between the same two it arrives in order."""
        self._links[source, to].append(arrive)

    # what arrives

    def requested(self, worker: str, batch: RequestBatch) -> None:
        """Take requests as a model service does."""
        self._catalogue.learn(batch)
        for request in filter(self._catalogue.knows, batch.requests):
            if request.key in self._kept:
                self._answer(worker, self._kept.pop(request.key))
            elif request.key in self._waiting:
                self._waiting[request.key] = (worker, request)
            else:
                self.asked.append(request.key)
                self._waiting[request.key] = (worker, request)
                # Replies come in any order: each on a link of its own.
                self.send(MODEL, f"reply {request.key}", lambda key=request.key: self._reply(key))  # type: ignore[misc]

    def _reply(self, key: int) -> None:
        worker, request = self._waiting.pop(key)
        self._answer(worker, Result(key, self._model(request, self._catalogue)))

    def _answer(self, worker: str, result: Result) -> None:
        there = {self.name(index): there for index, there in enumerate(self.workers)}.get(worker)
        if there is None:
            self._kept[result.key] = result
        else:
            self.send(MODEL, worker, lambda: there.take_results("default", [result]))

    def journalled(self, worker: str, batch: JournalBatch) -> None:
        """Take rows; they are written in a while."""
        self.coordinator.rows(worker.partition("@")[0], batch)
        self.send("disk", "coordinator", self.coordinator.settle)

    def told(self, worker: str, message: ToCoordinator) -> None:
        """Pass a message on."""
        self.coordinator.receive(worker.partition("@")[0], message)

    # what the coordinator does

    def order(self, worker: int, message: ToWorker) -> None:
        there = self.workers[worker]
        match message:
            case Begin():
                self.begun.append(message.round)
                copy = msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=Begin)
                self.send("coordinator", self.name(worker), lambda: there.begin(copy))
            case Settle():
                settlement = msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=Settle)
                self.send("coordinator", self.name(worker), lambda: there.settle(settlement))
            case Written(rows):
                self.send("coordinator", self.name(worker), lambda: there.written(rows))
            case AskAgain(model):
                self.send("coordinator", self.name(worker), there.models[model].again)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def restart_service(self, process: str) -> None:
        self.send(MODEL, "coordinator", lambda: self.coordinator.receive(process, Ready(1)))

    def restart_workers(self) -> None:
        dead = {self.name(worker) for worker in range(len(self.workers))}
        for ends in [ends for ends in self._links if dead & set(ends)]:
            del self._links[ends]
        self.setup = self.setup.again()
        self._start_workers()

    def was_running(self, worker: int) -> int:
        return self._fatal

    def end(self) -> None:
        self.is_over = True

    # the play

    def go_on(self, arrivals: int | None = None) -> Stage:
        """Let things arrive, all or so many, and let every worker run after each."""
        while not self.is_over and arrivals != 0:
            open_links = [ends for ends, link in self._links.items() if link]
            if open_links:
                self._links[open_links[self._order.randrange(len(open_links))]].popleft()()
            elif not self._stand_still():
                break
            arrivals = None if arrivals is None else arrivals - 1
            for worker in self.workers:
                while worker.work():
                    worker.flush(everything=False)
                worker.flush(everything=True)
        return self

    def _stand_still(self) -> bool:
        """Do as the coordinator does when nothing moves; return whether something does now."""
        for worker in self.workers:
            worker.stand_still()
        return any(worker.scheduler.has_ready for worker in self.workers)

    def play(self) -> Stage:
        """Play to the end."""
        self.go_on()
        last = self.coordinator.last_word
        assert last is not None, "the run got stuck"
        assert last == Finished("done", 0), last
        self.files.writer.close()
        return self

    def kill_worker(self, worker: int) -> None:
        """End a worker, as the coordinator hears of it."""
        self.coordinator.lost(f"worker-{worker}", "was killed by SIGKILL")

    def isolate(self) -> int | None:
        """Let a turn bring its worker down, and again each time it is repeated; return the agent, if any."""
        turns = [turn for worker in self.workers for turn in worker.scheduler.active.values()]
        if not turns:
            return None
        turn = turns[self._order.randrange(len(turns))]
        self._fatal = turn.key
        for _ in range(MAX_RESTARTS):
            self.kill_worker(self.setup.placement.worker_of(turn.agent.id))
        self._fatal = NOBODY
        return turn.agent.id

    def kill_service(self) -> None:
        """End the model service with all that it knows."""
        self._waiting.clear()
        self._kept.clear()
        self._catalogue = Catalogue()
        for ends in [ends for ends in self._links if ends[0] == MODEL or ends[1] == MODEL]:
            del self._links[ends]
        self.coordinator.lost(MODEL, "was killed by SIGKILL")

    def kill(self) -> None:
        """End everything: what is committed is all that stays."""
        self.is_over = True
        self.files.writer._db.close()

    def _start_workers(self) -> None:
        self.workers = [
            Worker(
                index,
                self.setup,
                ledger=Ledger(Transcripts.parse("all"), 1000),
                outbox=Desk(self, self.name(index)),
                clock=self.clock,
                wake=lambda: None,
            )
            for index in range(self.setup.placement.n_workers)
        ]
        for index in range(len(self.workers)):
            name = self.name(index)
            self.send(name, "coordinator", lambda name=name: self.told(name, Ready(1)))  # type: ignore[misc]

"""All workers of a run in this process, with a postman who delivers in any order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from engine.agents.post import Post
from engine.cluster.endpoints import Endpoints
from engine.cluster.ledger import Ledger
from engine.cluster.rounds import Rounds, Start
from engine.cluster.setup import Setup
from engine.cluster.wire import Begin, ShareDone, ToCoordinator
from engine.cluster.worker import Worker
from engine.draws import uniform
from engine.journal.batch import JournalBatch
from engine.journal.transcripts import Transcripts
from engine.models.protocol import RequestBatch, Result
from engine.preset.schema import Preset
from engine.scenarios.scenario import Outcome
from tests.fakes.journal import replies_of
from tests.fakes.turns import Clock


class _Desk:
    """Outbox of one worker: puts everything on the postman's pile, packed as on the wire."""

    def __init__(self, cluster: Cluster, index: int) -> None:
        self._cluster = cluster
        self._index = index

    def to_model(self, model: str, batch: RequestBatch) -> None:
        batch = _through_the_wire(batch)
        self._cluster.n_requests += len(batch.requests)
        for request in batch.requests:
            reply = Result(request.key, str(int(uniform(1, request.key) * 1000)))
            self._cluster.later(lambda worker, reply=reply: worker.take_results(model, [reply]), self._index)

    def to_worker(self, worker: int, post: Post) -> None:
        assert worker != self._index, "mail to oneself does not go out"
        post = _through_the_wire(post)
        self._cluster.later(lambda there: there.take_post(post), worker)

    def to_journal(self, batch: JournalBatch) -> None:
        batch = _through_the_wire(batch)
        self._cluster.rows += [(row[0], row[2], row[5]) for row in replies_of(batch)]
        self._cluster.failures += batch.failures
        self._cluster.later(lambda worker: worker.written(len(batch)), self._index)

    def to_coordinator(self, messages: list[ToCoordinator]) -> None:
        for message in messages:
            if isinstance(message, ShareDone):
                self._cluster.later(partial(self._cluster.share_done, self._index, message))


class Cluster:
    """Plays a run to its end. `order` shuffles what is on its way, as a network may."""

    def __init__(self, preset: Preset, order: Random) -> None:
        self.setup = Setup(preset, Path("nowhere"), Endpoints.in_folder("nowhere"), Path("nowhere"))
        self.clock = Clock()
        self.rows: list[tuple[int, int, Any]] = []
        """(key, prompt, value) of every reply that was journalled."""
        self.failures: list[Any] = []
        self.outcomes: list[Outcome] = []
        self.n_requests = 0
        self._order = order
        self._pile: list[Callable[[], None]] = []
        placement = self.setup.placement
        self._rounds = Rounds(self.setup.scenario_of, placement, preset.scenario.rounds, lambda: 0.0)
        self.workers = [
            Worker(
                index,
                self.setup,
                ledger=Ledger(Transcripts.parse("all"), 1000),
                outbox=_Desk(self, index),
                clock=self.clock,
                wake=lambda: None,
            )
            for index in range(placement.n_workers)
        ]

    def later(self, action: Callable[..., None], worker: int | None = None) -> None:
        """Put something on the pile: for a worker, or for the coordinator."""
        self._pile.append(action if worker is None else lambda: action(self.workers[worker]))

    def play(self) -> Cluster:
        """Run until nothing is on its way."""
        self._start(self._rounds.opening())
        self.go_on()
        return self

    def go_on(self) -> None:
        """Deliver one thing at a time, and let every worker run after it."""
        while self._pile:
            self._pile.pop(self._order.randrange(len(self._pile)))()
            for worker in self.workers:
                while worker.work():
                    worker.flush(everything=False)
                worker.flush(everything=True)

    @property
    def is_over(self) -> bool:
        """Whether all rounds have ended."""
        return self._rounds.is_over

    def share_done(self, worker: int, done: ShareDone) -> None:
        """Do what the coordinator does."""
        starts = self._rounds.take(worker, done).starts
        while (ended := self._rounds.overall()) is not None:
            self.outcomes.append(ended[1])
        self._start(starts)

    def _start(self, starts: list[Start]) -> None:
        for start in starts:
            packed = msgspec.Raw(msgspec.msgpack.encode(start.observation))
            for there in self.setup.placement.workers_of(start.group):
                expected = start.expected.get(there, {})
                begin = Begin(start.group, start.round, packed, expected, start.changes)
                self.later(lambda worker, begin=begin: worker.begin(begin), there)


def _through_the_wire(thing: Any) -> Any:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(thing), type=type(thing))

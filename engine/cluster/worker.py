"""A worker without its sockets: very many agents, one scheduler, and what is to be sent.

Input comes through `begin`, `take_results`, `take_post` and `written`; `work` runs agents; `flush` hands
everything that has piled up to the outbox in batches. The process around it only moves bytes, so that the
same worker runs forked, spawned, or inside the coordinator.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import msgspec

from engine.agents.agent import Agent
from engine.agents.births import REFUSED
from engine.agents.divergence import Beyond
from engine.agents.mail import Mail
from engine.agents.outgoing import LETTERS
from engine.agents.post import Post
from engine.agents.scheduler import Scheduler
from engine.cluster import snapshots
from engine.cluster.casting import Casting
from engine.cluster.ledger import Ledger
from engine.cluster.placement import Share as Place
from engine.cluster.setup import Setup
from engine.cluster.share import Share
from engine.cluster.wire import Begin, Settle, Settled, ShareDone, ToCoordinator
from engine.environments.addresses import WORLD
from engine.environments.environment import Environment
from engine.environments.host import Host
from engine.journal.batch import JournalBatch
from engine.journal.history import History
from engine.keys import pack, unpack
from engine.models.protocol import RequestBatch, Result
from engine.models.spent import Spent

BATCH = 1000
"""Requests, rows or starts that make a batch. Larger ones gain little: at 1000 the cost of a message is
already below 1 % of the cost of what it carries."""

CALLS = 10_000
"""Calls of environments that make a batch; they go to the journal many to a row."""

MAX_UNWRITTEN = 200_000
"""Journal rows that may be on their way to the file before a worker starts no more agents."""


_NOTHING = msgspec.msgpack.encode(None)


class Outbox(Protocol):
    """Where a worker's output goes."""

    def to_model(self, model: str, batch: RequestBatch) -> None: ...
    def to_worker(self, worker: int, post: Post) -> None: ...
    def to_journal(self, batch: JournalBatch) -> None: ...
    def to_coordinator(self, messages: list[ToCoordinator]) -> None: ...


class Worker:
    """The agents of one worker."""

    def __init__(
        self,
        index: int,
        setup: Setup,
        *,
        ledger: Ledger,
        outbox: Outbox,
        clock: Callable[[], float],
        wake: Callable[[], None],
    ) -> None:
        self.index = index
        preset, placement = setup.preset, setup.placement
        self._setup = setup
        self._ledger = ledger
        self._outbox = outbox
        self._window = preset.engine.window
        self._past = setup.past
        self._history: History | None = None
        self._snapshot_every = snapshots.every(setup)
        deadline_s = preset.engine.deadline_s
        self.scheduler = Scheduler(clock=clock, deadline_s=deadline_s, wake=wake)
        beyond = Beyond.REPORT if setup.replay_of else Beyond.ASK
        here = placement.on(index)
        self._mail = Mail(
            self.scheduler,
            ledger,
            worker=index,
            worker_of=self._worker_of,
            resident=self._resident,
            here=range(here[0].members.start, max(s.members.stop for s in here if not s.block)),
            most=preset.engine.mailbox,
        )
        self._environments = Host(
            self.scheduler,
            self._mail,
            ledger,
            worker=index,
            addresses=setup.addresses,
            make=self._environment,
            beyond=beyond,
        )
        self._casting = Casting(
            setup,
            scheduler=self.scheduler,
            mail=self._mail,
            environments=self._environments,
            ledger=ledger,
            beyond=beyond,
        )
        self.models = self._casting.models
        self._shares = [self._share(place) for place in here]
        self._starts = [share.members.start for share in self._shares]
        self._by_group: dict[int, list[Share]] = {}
        for share in self._shares:
            self._by_group.setdefault(share.group, []).append(share)
        self._observations = msgspec.msgpack.Decoder(setup.scenario_type.Observation)
        self._starting: deque[Share] = deque()
        self._held: list[Begin | Settle] = []
        self._messages: list[ToCoordinator] = []
        self._unwritten = 0
        self._dependent: deque[tuple[int, Callable[[], None]]] = deque()
        self._n_recorded = 0

    def begin(self, order: Begin) -> None:
        """Let a group begin a round as soon as all mail of the round before is in. Raises JournalError."""
        self._hold(order)

    def settle(self, order: Settle) -> None:
        """Let environments end a round as soon as all that was told to them in it is in."""
        self._hold(order)

    def _hold(self, order: Begin | Settle) -> None:
        if self._past is not None:
            self._open_history(self._past)
        self._held.append(order)
        self._release()

    def written(self, rows: int) -> None:
        """Note that journal rows are in the file, and let out what depends on them."""
        self._unwritten -= rows
        while self._dependent and self._dependent[0][0] <= self._n_recorded - self._unwritten:
            self._dependent.popleft()[1]()

    def take_results(self, model: str, results: list[Result]) -> None:
        """Hand replies of a model to the agents."""
        self.models[model].take(results)

    @property
    def n_open(self) -> int:
        """Model requests that wait for a reply."""
        return sum(model.n_open for model in self.models.values())

    def take_post(self, post: Post) -> None:
        """Hand mail of another worker to the agents. Raises JournalError."""
        if self._past is not None and post.calls:
            self._open_history(self._past)
        self._mail.take(post)
        self._environments.take(post)
        self._release()

    def work(self) -> bool:
        """Run agents for a while; return whether there is more to run at once."""
        self.scheduler.run_ready()
        if self.scheduler.fatal is not None:
            raise self.scheduler.fatal
        self._start(min(BATCH, self._allowance()))
        return self.scheduler.has_ready or self._allowance() > 0

    def _start(self, allowance: int) -> None:
        """Start the next turns; one that ends at once may complete a round, but never begins another."""
        while allowance > 0 and self._starting:
            share = self._starting[0]
            allowance -= share.start_up_to(allowance)
            if not share.has_next:
                self._starting.popleft()

    def expire(self) -> None:
        """Raise in agents that have waited past their deadline."""
        self.scheduler.expire()

    def stand_still(self) -> None:
        """End what agents wait for of each other: nothing in the run moves any more."""
        self._mail.questions.give_up()

    def flush(self, everything: bool) -> None:
        """Hand out what has piled up: all of it, or full batches only.

        Rows go first. Requests and mail may depend on them, so they leave when the rows are in the file; the
        coordinator gets its messages over the same link, behind the rows.
        """
        outgoing = [
            partial(self._outbox.to_model, name, requests)
            for name, model in self.models.items()
            if (everything or len(model.requests) >= BATCH) and (requests := model.requests.drain())
        ]
        outgoing += [
            partial(self._outbox.to_worker, there, post) for there, post in self._mail.outgoing.posts()
        ]
        full = len(self._ledger) >= BATCH or self._ledger.n_calls >= CALLS
        if everything or full or self._messages or outgoing:
            self.flush_journal()
        for send in outgoing:
            if self._unwritten:
                self._dependent.append((self._n_recorded, send))
            else:
                send()
        if self._messages:
            self._outbox.to_coordinator(self._messages)
            self._messages = []

    @property
    def n_done(self) -> int:
        """Turns that have ended since the run began."""
        return sum(share.n_ended for share in self._shares)

    @property
    def n_unsent(self) -> int:
        """Journal rows that have not been handed out."""
        return len(self._ledger)

    @property
    def failures(self) -> Counter[str]:
        """Failed replies and agents so far, by kind."""
        return self._ledger.counts

    @property
    def spent(self) -> list[tuple[str, int, Spent]]:
        """What replies have cost so far, by model and slice."""
        return [
            (name, slice_, spent)
            for name, model in self.models.items()
            for slice_, spent in model.spent.items()
        ]

    def _open_history(self, path: Path) -> None:
        """Not before the first order: by then the coordinator has repaired what a crash has left."""
        self._past = None
        history = self._history = History(path)
        self._casting.remember(history)
        self._mail.questions.history = history
        self._environments.history = history
        self.scheduler.ends = history.ends
        last_rounds = {
            agent: round_ for round_, agent, _ in (unpack(end.key) for end in history.ends.values())
        }
        for share in self._shares:
            share.last_rounds = last_rounds

    def flush_journal(self) -> None:
        """Hand out the rows that have piled up."""
        if len(self._ledger):
            self._n_recorded += len(self._ledger)
            self._unwritten += len(self._ledger)
            self._outbox.to_journal(self._ledger.take())

    def _allowance(self) -> int:
        """How many agents may start now: 0 while too many requests wait for replies, rows for the journal, or
        messages for another worker.

        Agents that wait for others do not count: those others may have yet to start.
        """
        is_held = self._unwritten >= MAX_UNWRITTEN or self._mail.outgoing.n_waiting >= LETTERS
        if not self._starting or is_held:
            return 0
        return self._window - self.n_open

    def _release(self) -> None:
        """Begin the rounds whose mail is complete."""
        for order in self._held[:]:
            told_in = order.round - 1 if isinstance(order, Begin) else order.round
            if all(self._mail.arrived[told_in, group] >= n for group, n in order.expected.items()):
                self._held.remove(order)
                if isinstance(order, Begin):
                    self._begin(order)
                else:
                    reports, sent = self._environments.settle(order.group)
                    self._messages.append(Settled(order.group, order.round, reports, sent))

    def _begin(self, order: Begin) -> None:
        shares = self._by_group[order.group]
        community = shares[0].world.community
        if order.changes and community is not None:
            community.change(order.changes)
        for share in shares:
            self._remember(share, order)
            share.begin(order.round, self._observations.decode(order.observation))
            self._starting.append(share)
        for parent, why in order.changes.refused:
            if any(parent in share.members for share in shares):
                self._ledger.failure(pack(order.round, parent), REFUSED, why, "no newcomer")

    def _remember(self, share: Share, order: Begin) -> None:
        """Go on from a snapshot if the first round to begin is a later one; make one when it is time."""
        last = order.round - 1
        if last and not share.world.round:
            assert self._history is not None
            snapshots.restore(share, self._history, last)
        elif last and self._snapshot_every and last % self._snapshot_every == 0 and share.is_at_rest:
            for row in snapshots.parts(self._setup, share, order):
                self._ledger.snapshot(row)
                self.flush_journal()  # a part is large enough for a message

    def _share_done(self, share: Share) -> None:
        is_empty = not share.born
        tally = _NOTHING if is_empty else self._tally(share)
        affected = self._ledger.take_affected(share.world.round, share.members)
        for index in affected:
            share.values[index] = None
        unaffected = self._tally(share) if affected else b""
        share.values = []
        self._messages.append(
            ShareDone(
                share.group,
                share.world.round,
                msgspec.Raw(tally),
                share.n_answered,
                share.n_excluded,
                len(share.stopped),
                share.sent,
                len(affected),
                unaffected,
                share.block,
                share.wishes,
                share.retiring,
                is_empty,
            )
        )

    def _tally(self, share: Share) -> bytes:
        born = share.born
        return msgspec.msgpack.encode(share.world.scenario.tally(born, share.values[: len(born)]))

    def _worker_of(self, receiver: int) -> int:
        placement = self._setup.placement
        if receiver < placement.n_ids:
            return placement.worker_of(receiver)
        return self._setup.addresses.worker_of(receiver)

    def _environment(self, number: int) -> Environment:
        """Make an environment."""
        name, group = self._setup.addresses.about(number)
        scenario = self._casting.scenario
        environment = self._setup.addresses.kinds[name]()
        placement, is_of_world = self._setup.placement, group == WORLD
        everyone, later = range(placement.n_agents), range(placement.n_agents, placement.n_ids)
        environment.enter(
            number=number,
            name=name,
            group=group,
            members=everyone if is_of_world else placement.groups[group],
            newcomers=later if is_of_world else placement.places_of(group),
            settings=scenario.settings,
            seed=scenario.seed,
            host=self._environments,
        )
        return environment

    def _resident(self, agent_id: int, round_: int) -> Agent | None:
        share = self._shares[bisect_right(self._starts, agent_id) - 1]
        return share.resident(agent_id, round_)

    def _share(self, place: Place) -> Share:
        return Share(
            place.members,
            self._casting.casts(place),
            scheduler=self.scheduler,
            mail=self._mail,
            record=self._ledger,
            done=self._share_done,
            block=place.block,
        )

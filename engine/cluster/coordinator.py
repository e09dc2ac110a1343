"""The coordinator without its sockets: the course of a run, from the processes being up to the last word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec

from engine.agents.births import Changes
from engine.cluster import snapshots
from engine.cluster.accounts import Accounts
from engine.cluster.bill import Bill
from engine.cluster.budget import BudgetWatch
from engine.cluster.casualties import MAX_RESTARTS, Casualties, Remedy
from engine.cluster.control import Finished, Notice, RoundReport, Snapshot
from engine.cluster.eta import Pace, Rate
from engine.cluster.failure_budget import FailureBudget
from engine.cluster.round_rows import outcome_differs, report_of, row_of, row_of_group
from engine.cluster.rounds import GroupRound, Progressed, Rounds, Start
from engine.cluster.run_files import RunFiles
from engine.cluster.setup import Setup
from engine.cluster.standstill import Standstill
from engine.cluster.state import State
from engine.cluster.surroundings import Surroundings
from engine.cluster.wire import (
    AskAgain,
    Begin,
    Failed,
    Progress,
    Ready,
    Settle,
    Settled,
    ShareDone,
    StandStill,
    ToCoordinator,
    Told,
    Trouble,
    Work,
    Written,
)
from engine.cluster.writing import PROCESS, Writing
from engine.errors import ExitCode, JournalError, SimtuiError
from engine.journal.batch import JournalBatch
from engine.journal.history import ISOLATED, History
from engine.journal.run_directory import RunDirectory
from engine.keys import PERSONAS, pack, unpack
from engine.models.protocol import Result
from engine.scenarios.scenario import Outcome


class Coordinator:
    """Decides what happens next whenever a process reports."""

    def __init__(
        self,
        setup: Setup,
        files: RunFiles,
        surroundings: Surroundings,
        *,
        clock: Callable[[], float],
        now: Callable[[], float],
    ) -> None:
        """`clock` measures (seconds from anywhere), `now` dates (seconds since 1970)."""
        self._setup = setup
        self._placement = setup.placement
        self._files = files
        self._journal = files.writer
        self._known = {
            row.round: report_of(row, setup.placement.n_agents, files.known_usage.get(row.round))
            for row in files.known_rounds
        }
        own = {n: used for n, used in files.known_usage.items() if n > setup.branched_at or not setup.before}
        over = [used for n, usage in own.items() if n in {PERSONAS, *self._known} for used in usage]
        begun = [used for n, usage in own.items() if n not in {PERSONAS, *self._known} for used in usage]
        self._bill = Bill(setup, over, begun)
        self._budget = BudgetWatch(setup.preset.budget, setup.models, [*over, *begun])
        self._outside = surroundings
        self._clock = clock
        self._now = now
        self._workers = [f"worker-{w}" for w in range(self._placement.n_workers)]
        services = [] if setup.replay_of else setup.models
        self._waiting_for = {*self._workers, *(f"model-{name}" for name in services)}
        self._n_rounds = len(self._known) if setup.replay_of else setup.preset.scenario.rounds
        self._scenario_of = lru_cache(maxsize=4)(setup.scenario_of)
        self._accounts = Accounts(self._placement.n_workers, clock, lambda: self._journal.seconds)
        self._rounds = self._new_rounds()
        n_agents = self._placement.n_agents
        self._token_rate = Rate()
        self._pace = Pace(n_agents * self._n_rounds, n_agents)
        self._replies_before: int | None = 0 if setup.resumed else None
        """Replies written when agents began to be rebuilt; None if none ever were."""
        self._failure_budget = FailureBudget(setup.preset.engine.failure_budget, n_agents)
        self._unsettled: Counter[int] = Counter()
        self._casualties = Casualties()
        self.state = State.STARTING
        self._standstill = Standstill(clock, setup.preset.engine.deadline_s)
        self._descriptions: dict[str, dict[str, Any]] = {}
        self._writing = Writing(setup, self._journal, surroundings.ask, clock) if setup.must_write else None
        self.people = files.people
        """Who the agents are, once all of that is known."""
        self.reports: list[RoundReport] = []
        self.last_word: Finished | None = None

    def receive(self, process: str, message: ToCoordinator) -> None:
        """Take a message of a worker ("worker-3") or of a model service ("model-default")."""
        if self.is_over:
            return
        match message:
            case Progress(work):
                self._progress(process, work)
            case ShareDone():
                self._share_done(process, message)
            case Settled():
                self._go_on(self._rounds.settle(message), message.round)
            case Ready(_, description):
                self._ready(process, description)
            case Failed(trouble):
                self._failed(process, trouble)
            case Told(text):
                self._outside.emit(Notice("info", f"{process}: {text}"))

    def rows(self, process: str, batch: JournalBatch) -> None:
        """Take journal rows of a worker; `settle` writes them. Raises JournalError."""
        self._journal.add(batch)
        self._unsettled[_index(process)] += len(batch)

    def settle(self) -> None:
        """Write the rows of all workers in one transaction, and tell them. Raises JournalError."""
        self._journal.commit()
        for worker, rows in self._unsettled.items():
            self._outside.order(worker, Written(rows))
        self._unsettled.clear()

    def lost(self, process: str, how: str) -> None:
        """Replace a process that has ended."""
        if self.is_over:
            return
        if process in self._workers:
            self._recover(process, how)
        elif self._casualties.service(process) is Remedy.GIVE_UP:
            self._give_up(process, how)
        else:
            self._restarted(process, how, "it is started anew")
            self._budget.forget(process)
            self._outside.restart_service(process)

    def _give_up(self, process: str, how: str) -> None:
        hint = f"run.log and stderr.log in {self._setup.directory} may say why; the rest is saved"
        self.fail(SimtuiError(f"{process} {how}", where=process, hint=hint))

    def _recover(self, process: str, how: str) -> None:
        """Rebuild all workers from the journal, without the agent that has brought one down too often.

        All of them, because what the others know of the round rests on messages from the dead one.
        """
        key = self._outside.was_running(_index(process))
        remedy = self._casualties.worker(key)
        if remedy is Remedy.GIVE_UP:
            self._give_up(process, how)
            return
        self._journal.commit()
        if remedy is Remedy.ISOLATE:
            self._isolate(key, how)
        self._restarted(process, how, "all workers are rebuilt from the journal")
        self._journal.commit()
        self._replies_before = self._journal.replies
        self._known |= {report.round: report for report in self.reports}
        self._rounds = self._new_rounds()
        self._unsettled.clear()
        self._waiting_for = set(self._workers)
        self.state = State.STARTING
        for worker in self._workers:
            self._accounts.forget(worker)
            self._bill.forget(worker)
            self._budget.forget(worker)
        self._outside.restart_workers()

    def _isolate(self, key: int, how: str) -> None:
        """Let an agent never go on from where it went to its death; the journal tells the workers.

        What it did later when it was luckier, and others rest on, is let stand: what it has called, and all
        of the rounds that are over, in which it may have told something.
        """
        agent = unpack(key).agent
        text = f"its worker {how}, as {MAX_RESTARTS} did while it was running"
        history = History(RunDirectory(self._setup.directory).run_file)
        over = history.last_ended(self._placement.group_of(agent))
        end = max(key, history.last_call(agent) + 1, pack(over + 1, agent))
        self._journal.add(JournalBatch(failures=[(end, ISOLATED, text, None, "agent stopped")]))
        self._outside.emit(Notice("warning", f"agent {agent} is isolated: {text}"))

    def _restarted(self, process: str, how: str, remedy: str) -> None:
        self._journal.event("restarted", f"{process} {how}")
        self._outside.emit(Notice("warning", f"{process} {how}; {remedy}"))

    def look_for_standstill(self) -> None:
        """Tell the workers if agents wait for each other and nothing else has moved for the deadline."""
        progress = (self._accounts.n_done, self._journal.replies)
        busy = bool(self._accounts.n_open) or self.state is not State.RUNNING
        if self._standstill.look(progress, busy=busy):
            for worker in range(self._placement.n_workers):
                self._outside.order(worker, StandStill())

    def stop(self, reason: str) -> None:
        """End now because someone asked for it."""
        if not self.is_over:
            self._finish(State.INTERRUPTED, Finished("interrupted", ExitCode.INTERRUPTED, reason))

    def fail(self, error: SimtuiError) -> None:
        """End now because the run cannot go on."""
        if not self.is_over:
            self._finish(
                State.FAILED, Finished("failed", error.exit_code, error.what, error.where, error.hint)
            )

    @property
    def are_all_up(self) -> bool:
        """Whether every process has said that it is ready."""
        return not self._waiting_for

    @property
    def is_over(self) -> bool:
        """Whether the last word is known."""
        return self.last_word is not None

    def snapshot(self) -> Snapshot:
        """Return the state of the run as it is now."""
        n_agents, n_rounds = self._placement.n_agents, self._n_rounds
        n_done = self._accounts.n_done
        (self._pace.restart if self._is_catching_up() else self._pace.note)(self._clock(), n_done)
        eta_s, basis = self._pace.eta()
        usage = self._bill.total()
        self._token_rate.note(self._clock(), sum(used.tokens_out for used in usage))
        round_ = min(self._rounds.finished + 1, n_rounds)
        snapshot = Snapshot(
            state=self._state_shown(),
            round=round_ if self.state not in (State.STARTING, State.WRITING) else 0,
            rounds=n_rounds,
            n_agents=n_agents,
            n_done=max(0, min(n_done - (round_ - 1) * n_agents, n_agents)),
            in_flight=self._accounts.n_open,
            rate=self._pace.rate,
            elapsed_s=self._clock() - self._accounts.started,
            eta_s=eta_s,
            eta_basis=basis,
            failures=dict(self._accounts.failures),
            usage=usage,
            token_rate=self._token_rate.rate,
        )
        return self._writing.shown(snapshot) if self._writing else snapshot

    def _new_rounds(self) -> Rounds:
        snapshot = snapshots.to_go_on_from(self._setup, self._journal, len(self._known))
        self._accounts.note("snapshot", Work(failures=snapshot.failures if snapshot else {}))
        return Rounds(
            self._scenario_of,
            self._placement,
            self._n_rounds,
            self._clock,
            addresses=self._setup.addresses,
            snapshot=snapshot,
        )

    def _state_shown(self) -> State:
        rebuilding = self.state is State.RUNNING and self._rounds.finished < len(self._known)
        return State.REBUILDING if rebuilding else self.state

    def _is_catching_up(self) -> bool:
        """Tell whether turns end, if at all, without any model: their pace says nothing."""
        state = self._state_shown()
        rebuilt = state is State.RUNNING and self._replies_before == self._journal.replies
        return rebuilt or state in (State.STARTING, State.REBUILDING)

    def _ready(self, process: str, description: dict[str, Any]) -> None:
        if self.state is State.RUNNING:
            for worker in range(self._placement.n_workers):
                self._outside.order(worker, AskAgain(process.removeprefix("model-")))
            return
        self._waiting_for.discard(process)
        if description:
            self._descriptions[process] = description
        if not self._waiting_for:
            self._files.loaded(self._descriptions)
            if self._writing:
                self.state = State.WRITING
                self._writing.go_on(self._descriptions)
            self._open()

    def replies(self, results: list[Result]) -> None:
        """Take replies to requests of the coordinator itself."""
        if self._writing and not self.is_over:
            self._writing.take(results)
            self._open()

    def _open(self) -> None:
        """Begin with the first round, once there is everything that has to be there before."""
        if self._writing:
            self._progress(PROCESS, self._writing.work)
            if self.is_over or self._waiting_for or not self._writing.is_done:
                return
            self._close_writing(self._writing)
        self.state = State.RUNNING
        self._journal.event("started", "")
        self._accounts.restart_round()
        for round_ in range(len(self.reports) + 1, self._rounds.finished + 1):
            self._tell(self._known[round_])
        self._pace.restart(self._clock(), self._rounds.finished * self._placement.n_agents)
        self._start(self._rounds.opening())

    def _close_writing(self, writing: Writing) -> None:
        self.people = self._files.written(writing)
        self._writing = None
        writing.close()
        self._outside.emit(self.people)
        self._bill.close_round()
        if writing.model not in self._setup.slice_models:
            self._outside.retire_service(f"model-{writing.model}")

    def _progress(self, process: str, work: Work) -> None:
        self._accounts.note(process, work)
        if not process.startswith("model-"):
            self._bill.note(process, work.spent)
            self._budget.note_worker(process, work)
        else:
            parts = self._budget.note_service(process.removeprefix("model-"), work)
            for name, part in parts.items():
                self._outside.instruct(f"model-{name}", part)
            if parts:
                return
        self._stop_by_budget()
        spent = self._failure_budget.spent(self._accounts.n_stopped, self._rounds.finished + 1)
        if spent is not None:
            self.fail(spent)

    def _stop_by_budget(self) -> None:
        elapsed_s = self._clock() - self._accounts.started
        over = None if self._setup.replay_of else self._budget.exhausted(elapsed_s, self._accounts.failures)
        if over is not None and not self.is_over:
            last_word = Finished("budget", ExitCode.BUDGET, over.what, over.setting, over.hint)
            self._finish(State.BUDGET, last_word)

    def _share_done(self, process: str, done: ShareDone) -> None:
        self._go_on(self._rounds.take(_index(process), done), done.round)

    def _go_on(self, progressed: Progressed, round_: int) -> None:
        for group, state in progressed.ended:
            if len(self._placement.groups) > 1:
                seconds = self._clock() - state.began
                self._journal.rounds([row_of_group(round_, group, state, self._now(), seconds)])
        while (ended := self._rounds.overall()) is not None:
            self._report(*ended)
        for part in progressed.settle:
            self._outside.order(part.worker, Settle(part.group, part.round, part.expected))
        if progressed.starts:
            self.settle()  # what the next round rests on is in the file before it begins
            self._start(progressed.starts)
        if self._rounds.is_over:
            self._finish(State.DONE, Finished("done", ExitCode.DONE))

    def _start(self, starts: list[Start]) -> None:
        for start in starts:
            observation = msgspec.Raw(msgspec.msgpack.encode(start.observation))
            self._note(start.round, start.changes)
            for worker in self._placement.workers_of(start.group):
                expected = start.expected.get(worker, {})
                order = Begin(start.group, start.round, observation, expected, start.changes)
                self._outside.order(worker, order)

    def _note(self, round_: int, changes: Changes) -> None:
        wishes = [(birth, birth.wish) for birth in changes.born]
        self._journal.births(
            (birth.id, wish.parent, round_, birth.name, wish.attributes, wish.persona)
            for birth, wish in wishes
        )
        self._journal.retirements([(agent, round_, by) for agent, by in changes.retired])

    def _failed(self, process: str, trouble: Trouble) -> None:
        if trouble.traceback:
            self._outside.emit(Notice("error", trouble.traceback))
        self.fail(SimtuiError(trouble.what, where=trouble.where or process, hint=trouble.hint))

    def _finish(self, state: State, last_word: Finished) -> None:
        self.state = state
        self.last_word = last_word
        with suppress(JournalError):  # the disk may be what has failed
            self._journal.event(state, last_word.what)
        self._outside.end()

    def _report(self, round_: int, outcome: Outcome, groups: list[GroupRound]) -> None:
        seconds, cpu_s, split = self._accounts.close_round()
        if round_ in self._known:
            if self._setup.replay_of and outcome_differs(outcome, self._known[round_].outcome):
                self._journal.event("diverged", f"round {round_}")
            if round_ > len(self.reports):
                self._tell(self._known[round_])
            return
        report = RoundReport(
            round=round_,
            outcome=outcome,
            n_agents=self._placement.n_agents,
            n_answered=sum(state.count("n_answered") for state in groups),
            n_excluded=sum(state.count("n_excluded") for state in groups),
            n_failed=sum(state.count("n_failed") for state in groups),
            seconds=seconds,
            cpu_s=cpu_s,
            split=split,
            n_affected=sum(state.count("n_affected") for state in groups),
            unaffected=self._rounds.unaffected(round_, groups),
            usage=self._bill.close_round(),
        )
        self._casualties.round_ended()
        self._journal.rounds([row_of(report, self._now())])
        if (interval := snapshots.every(self._setup)) and round_ % interval == 0:
            self._journal.keep_snapshots(round_ - interval)
        self._journal.commit()
        self._tell(report)

    def _tell(self, report: RoundReport) -> None:
        self.reports.append(report)
        self._outside.emit(report)


def _index(process: str) -> int:
    """Return the number in "worker-3"."""
    return int(process.rpartition("-")[2])

"""Which group is in which round: the barrier, no wider than the scenario's dependencies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from engine.agents.births import Changes
from engine.cluster.placement import Placement
from engine.cluster.register import Register
from engine.cluster.wire import Settled, ShareDone
from engine.environments.addresses import WORLD, Addresses
from engine.journal.snapshots import Snapshot
from engine.scenarios.scenario import Outcome, Scenario

Stats = dict[str, int | float | str | None]


@dataclass
class GroupRound:
    """What is known of one group in one round."""

    parts: dict[tuple[int, int], ShareDone] = field(default_factory=dict)
    """By block and worker, so that their order is that of the agents."""
    outcome: Outcome | None = None
    began: float = 0.0
    """Seconds on the clock that measures."""
    settled: Settled | None = None
    """What the group's environments made of the round, once they have ended it."""

    def sent(self) -> Counter[int]:
        """Messages told on other workers in this round, by worker."""
        total: Counter[int] = Counter()
        for part in self.parts.values():
            total.update(part.sent)
        if self.settled is not None:
            total.update(self.settled.sent)
        return total

    def count(self, name: str) -> int:
        """Sum of one of the counts of ShareDone."""
        return sum(getattr(part, name) for part in self.parts.values())


@dataclass(frozen=True)
class Start:
    """A group may begin a round on its workers."""

    group: int
    round: int
    observation: Any
    expected: dict[int, dict[int, int]]
    """By worker: messages to be in before the group begins there, by the group they come from."""
    changes: Changes = field(default_factory=Changes)
    """Who has come and gone."""


@dataclass(frozen=True)
class Settlement:
    """The environments of a group, or of the world, are to end a round on a worker."""

    worker: int
    group: int
    round: int
    expected: dict[int, int]
    """Messages to be in before, by the group they come from."""


@dataclass
class Progressed:
    """What follows from a report of a worker."""

    ended: list[tuple[int, GroupRound]] = field(default_factory=list)
    """Groups, and the rounds of theirs that are over."""
    settle: list[Settlement] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)


class Rounds:
    """Takes what workers report and says which groups may go on, and which rounds are over."""

    def __init__(
        self,
        scenario_of: Callable[[int], Scenario],
        placement: Placement,
        n_rounds: int,
        clock: Callable[[], float],
        *,
        addresses: Addresses | None = None,
        snapshot: Snapshot | None = None,
    ) -> None:
        """`scenario_of(round)` concludes that round; `clock` measures seconds, and never goes back.

        `addresses` are those of the scenario's environments, if it has any. With a snapshot, the round after
        it is the first.
        """
        self._scenario_of = scenario_of
        self._clock = clock
        self._placement = placement
        self._last = n_rounds
        self._open: dict[int, dict[int, GroupRound]] = defaultdict(lambda: defaultdict(GroupRound))
        self._all = range(len(placement.groups))
        self._addresses = addresses
        self._world: dict[int, Settled] = {}
        """What the environments of the world made of rounds that are not over yet, or have just been."""
        self._registers: dict[int, Register] = {}
        self._snapshot = snapshot
        self.finished = snapshot.round if snapshot else 0
        """Rounds that all groups have ended."""

    def opening(self) -> list[Start]:
        """Return the first round of every group."""
        first = self.finished + 1
        for group in self._all:
            self._open[first][group].began = self._clock()
        return [Start(group, first, self._opening(group), {}) for group in self._all]

    def _opening(self, group: int) -> Any:
        if self._snapshot:
            return msgspec.Raw(self._snapshot.observations[group])
        return self._scenario_of(0).opening(group)

    def take(self, worker: int, done: ShareDone) -> Progressed:
        """Note a share's end; after a group's last one its environments are to end the round too."""
        state = self._open[done.round][done.group]
        state.parts[done.block, worker] = done
        shares = self._placement.of(done.group)
        if len(state.parts) < len(shares):
            return Progressed()
        if self._addresses and self._addresses.of_groups:
            return Progressed(settle=[self._settlement(done.round, done.group, [done.group])])
        return self._acted(done.round, done.group)

    def settle(self, done: Settled) -> Progressed:
        """Note that environments have ended a round."""
        if done.group == WORLD:
            self._world[done.round] = done
            return self._concluded(done.round, list(self._all))
        self._open[done.round][done.group].settled = done
        return self._acted(done.round, done.group)

    def _acted(self, round_: int, group: int) -> Progressed:
        """Go on when a group and its environments have ended a round."""
        if not (self._addresses and self._addresses.of_world):
            return self._concluded(round_, [group])
        states = self._open[round_]
        if any(not self._has_acted(states[g], g) for g in self._all):
            return Progressed()
        return Progressed(settle=[self._settlement(round_, WORLD, list(self._all))])

    def _has_acted(self, state: GroupRound, group: int) -> bool:
        assert self._addresses is not None
        all_in = len(state.parts) == len(self._placement.of(group))
        return all_in and (state.settled is not None or not self._addresses.of_groups)

    def _settlement(self, round_: int, group: int, sources: list[int]) -> Settlement:
        assert self._addresses is not None
        worker = self._addresses.worker_of(next(iter(self._addresses.settled_with(group).values())))
        return Settlement(worker, group, round_, self._expected(round_, sources).get(worker, {}))

    def _concluded(self, round_: int, groups: list[int]) -> Progressed:
        progressed = Progressed()
        scenario = self._scenario_of(round_)
        for group in groups:
            state = self._open[round_][group]
            outcome = scenario.conclude(round_, group, self._tallies(round_, group))
            reports = self._reports(round_, state)
            state.outcome = scenario.settle(outcome, reports) if reports else outcome
            progressed.ended.append((group, state))
        for group in groups:
            if starts := self._next(round_, group):
                progressed.starts += starts
                break
        return progressed

    def _reports(self, round_: int, *states: GroupRound) -> dict[str, Any]:
        settled = [*(state.settled for state in states), self._world.get(round_)]
        return {name: report for part in settled if part for name, report in part.reports.items()}

    def overall(self) -> tuple[int, Outcome, list[GroupRound]] | None:
        """Return the next round that all groups have ended, or None; its details are forgotten."""
        round_ = self.finished + 1
        groups = self._open.get(round_, {})
        if len(groups) < len(self._all) or any(state.outcome is None for state in groups.values()):
            return None
        self.finished = round_
        if len(self._all) == 1:
            outcome = groups[0].outcome
            assert outcome is not None
        else:
            tallies = [tally for group in self._all for tally in self._tallies(round_, group)]
            scenario = self._scenario_of(round_)
            outcome = scenario.overall(round_, tallies)
            if self._addresses and self._addresses.of_groups:
                outcomes = [groups[group].outcome for group in self._all]
                outcome = scenario.across(outcome, [found for found in outcomes if found is not None])
            if reports := self._reports(round_):
                outcome = scenario.settle(outcome, reports)
        del self._open[round_]
        self._world.pop(round_ - 1, None)
        return round_, outcome, list(groups.values())

    def unaffected(self, round_: int, groups: Iterable[GroupRound]) -> Stats | None:
        """Return the stats of a round that is over, without the affected agents; None if there are none."""
        parts = [part for state in groups for _, part in sorted(state.parts.items()) if not part.is_empty]
        if not any(part.unaffected for part in parts):
            return None
        parts.sort(key=lambda part: part.group)
        tallies = [msgspec.msgpack.decode(part.unaffected or part.tally) for part in parts]
        return self._scenario_of(round_).overall(round_, tallies).stats

    def current(self, group: int) -> int:
        """Return the round that a group is in, or has last been in."""
        rounds = (round_ for round_, groups in self._open.items() if group in groups)
        return max(rounds, default=self.finished)

    @property
    def is_over(self) -> bool:
        """Whether all groups have ended the last round."""
        return self.finished >= self._last

    def _tallies(self, round_: int, group: int) -> list[Any]:
        parts = sorted(self._open[round_][group].parts.items())
        return [msgspec.msgpack.decode(part.tally) for _, part in parts if not part.is_empty]

    def _next(self, round_: int, group: int) -> list[Start]:
        if round_ == self._last:
            return []
        if not self._scenario_of(round_).coupled:
            return [self._start(group, round_, self._expected(round_, [group]))]
        groups = self._open[round_]
        if len(groups) < len(self._all) or any(groups[g].outcome is None for g in self._all):
            return []
        expected = self._expected(round_, list(self._all))
        return [self._start(g, round_, expected) for g in self._all]

    def _start(self, group: int, round_: int, expected: dict[int, dict[int, int]]) -> Start:
        groups = self._open[round_]
        outcome = groups[group].outcome
        assert outcome is not None
        self._open[round_ + 1][group].began = self._clock()
        return Start(group, round_ + 1, outcome.observation, expected, self._changes(group, round_))

    def _changes(self, group: int, round_: int) -> Changes:
        """Settle who comes and who goes after a round."""
        parts = [part for _, part in sorted(self._open[round_][group].parts.items())]
        wishes = [wish for part in parts for wish in part.wishes]
        retiring = [going for part in parts for going in part.retiring]
        if not wishes and not retiring:
            return Changes()
        if group not in self._registers:
            self._registers[group] = Register(self._placement.places_of(group))
        return self._registers[group].change(round_ + 1, wishes, retiring)

    def _expected(self, round_: int, sources: list[int]) -> dict[int, dict[int, int]]:
        """Return how many messages of a round a worker waits for, by the groups they come from."""
        expected: dict[int, dict[int, int]] = defaultdict(dict)
        for source in sources:
            for worker, n in self._open[round_][source].sent().items():
                expected[worker][source] = n
        if round_ in self._world:
            for worker, n in self._world[round_].sent.items():
                expected[worker][WORLD] = n
        return expected

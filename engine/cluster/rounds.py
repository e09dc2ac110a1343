"""Which group is in which round: the barrier, no wider than the scenario's dependencies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from engine.cluster.placement import Placement
from engine.cluster.wire import ShareDone
from engine.journal.snapshots import Snapshot
from engine.scenarios.scenario import Outcome, Scenario

Stats = dict[str, int | float | str | None]


@dataclass
class GroupRound:
    """What is known of one group in one round."""

    parts: dict[int, ShareDone] = field(default_factory=dict)
    """By worker."""
    outcome: Outcome | None = None
    began: float = 0.0
    """Seconds on the clock that measures."""

    def sent(self) -> Counter[int]:
        """Messages told to agents on other workers in this round, by worker."""
        total: Counter[int] = Counter()
        for part in self.parts.values():
            total.update(part.sent)
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


class Rounds:
    """Takes what workers report and says which groups may go on, and which rounds are over."""

    def __init__(
        self,
        scenario_of: Callable[[int], Scenario],
        placement: Placement,
        n_rounds: int,
        clock: Callable[[], float],
        snapshot: Snapshot | None = None,
    ) -> None:
        """`scenario_of(round)` concludes that round; `clock` measures seconds, and never goes back.

        With a snapshot, the round after it is the first.
        """
        self._scenario_of = scenario_of
        self._clock = clock
        self._placement = placement
        self._last = n_rounds
        self._open: dict[int, dict[int, GroupRound]] = defaultdict(lambda: defaultdict(GroupRound))
        self._all = range(len(placement.groups))
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

    def take(self, worker: int, done: ShareDone) -> tuple[GroupRound | None, list[Start]]:
        """Note a share's end. Returns the group's round if that was its last share, and who may begin now."""
        state = self._open[done.round][done.group]
        state.parts[worker] = done
        shares = self._placement.of(done.group)
        if len(state.parts) < len(shares):
            return None, []
        tallies = self._tallies(done.round, done.group)
        state.outcome = self._scenario_of(done.round).conclude(done.round, done.group, tallies)
        return state, self._next(done.round, done.group)

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
            outcome = self._scenario_of(round_).overall(round_, tallies)
        del self._open[round_]
        return round_, outcome, list(groups.values())

    def unaffected(self, round_: int, groups: Iterable[GroupRound]) -> Stats | None:
        """Return the stats of a round that is over, without the affected agents; None if there are none."""
        parts = [part for state in groups for _, part in sorted(state.parts.items())]
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
        parts = self._open[round_][group].parts
        return [msgspec.msgpack.decode(parts[share.worker].tally) for share in self._placement.of(group)]

    def _next(self, round_: int, group: int) -> list[Start]:
        if round_ == self._last:
            return []
        if not self._scenario_of(round_).coupled:
            return [self._start(group, round_, [group])]
        groups = self._open[round_]
        if len(groups) < len(self._all) or any(groups[g].outcome is None for g in self._all):
            return []
        return [self._start(g, round_, list(self._all)) for g in self._all]

    def _start(self, group: int, round_: int, sources: list[int]) -> Start:
        groups = self._open[round_]
        outcome = groups[group].outcome
        assert outcome is not None
        expected: dict[int, dict[int, int]] = defaultdict(dict)
        for source in sources:
            for worker, n in groups[source].sent().items():
                expected[worker][source] = n
        self._open[round_ + 1][group].began = self._clock()
        return Start(group, round_ + 1, outcome.observation, expected)

"""The barrier: groups go on by themselves, or wait for each other where the scenario couples them."""

from typing import Any

import msgspec
import pytest

from engine.cluster.placement import Placement
from engine.cluster.rounds import Progressed, Rounds, Settlement, Start
from engine.cluster.wire import Settled, ShareDone
from engine.environments.addresses import WORLD, Addresses
from engine.environments.environment import Environment
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings


class Sums(Scenario):
    """A tally is a number, and the outcome their sum."""

    Settings = ScenarioSettings

    def opening(self, group: int) -> Any:
        return f"open {group}"

    def conclude(self, round_: int, group: int, tallies: Any) -> Outcome:
        return Outcome({"sum": sum(tallies)}, [round_, group])


class CoupledSums(Sums):
    coupled = True


def rounds(groups: int, workers: int, *, n_rounds: int = 3, kind: type[Scenario] = Sums) -> Rounds:
    scenario = kind(ScenarioSettings(rounds=n_rounds, groups=groups), 12, 1)
    return Rounds(lambda _: scenario, Placement(12, groups, workers), n_rounds, lambda: 1e9)


def done(group: int, round_: int, tally: float = 1, sent: dict[int, int] | None = None) -> ShareDone:
    return ShareDone(group, round_, msgspec.Raw(msgspec.msgpack.encode(tally)), 3, 2, 1, sent or {})


def test_the_opening_starts_every_group() -> None:
    assert rounds(3, 2).opening() == [Start(group, 1, f"open {group}", {}) for group in range(3)]


def test_a_group_goes_on_when_its_own_shares_are_done() -> None:
    course = rounds(2, 4)
    course.opening()
    assert course.take(0, done(0, 1, 5)) == Progressed()
    progressed = course.take(1, done(0, 1, 7))
    [(group, state)], starts = progressed.ended, progressed.starts
    assert group == 0
    assert state.outcome is not None
    assert state.outcome.stats == {"sum": 12}
    assert (state.count("n_answered"), state.count("n_excluded"), state.count("n_failed")) == (6, 4, 2)
    assert starts == [Start(0, 2, [1, 0], {})]
    assert course.overall() is None
    assert course.finished == 0


def test_groups_may_be_rounds_apart_and_the_run_is_told_in_order() -> None:
    course = rounds(2, 2)
    course.opening()
    for round_ in (1, 2, 3):
        course.take(0, done(0, round_))
    assert course.overall() is None
    told = []
    for round_ in (1, 2, 3):
        assert not course.is_over
        course.take(1, done(1, round_, 10))
        ended = course.overall()
        assert ended is not None
        told.append((ended[0], ended[1].stats))
    assert told == [(1, {"sum": 11}), (2, {"sum": 11}), (3, {"sum": 11})]
    assert course.is_over
    assert course.overall() is None


def test_one_group_is_concluded_once() -> None:
    course = rounds(1, 2)
    course.opening()
    course.take(1, done(0, 1, 1))
    course.take(0, done(0, 1, 2))
    ended = course.overall()
    assert ended is not None
    round_, outcome, groups = ended
    assert (round_, outcome.observation) == (1, [1, 0]), "not concluded again as 'all groups'"
    assert [group.outcome for group in groups] == [outcome]


def test_no_group_starts_after_the_last_round() -> None:
    course = rounds(1, 1, n_rounds=1)
    course.opening()
    progressed = course.take(0, done(0, 1))
    assert [group for group, _ in progressed.ended] == [0]
    assert progressed.starts == []
    assert course.overall() is not None
    assert course.is_over


def test_coupled_groups_wait_for_each_other() -> None:
    course = rounds(3, 3, kind=CoupledSums)
    course.opening()
    for group in (2, 0):
        progressed = course.take(group, done(group, 1))
        assert [group for group, _ in progressed.ended] == [group]
        assert progressed.starts == []
    starts = course.take(1, done(1, 1)).starts
    assert [(start.group, start.round) for start in starts] == [(0, 2), (1, 2), (2, 2)]


def test_a_group_waits_for_the_mail_that_its_own_shares_have_sent() -> None:
    course = rounds(2, 4)
    course.opening()
    course.take(0, done(0, 1, sent={1: 3}))
    [start] = course.take(1, done(0, 1, sent={0: 2, 1: 1})).starts
    assert start.expected == {1: {0: 4}, 0: {0: 2}}


def test_coupled_groups_wait_for_the_mail_of_all() -> None:
    course = rounds(2, 2, kind=CoupledSums)
    course.opening()
    course.take(0, done(0, 1, sent={1: 3}))
    starts = course.take(1, done(1, 1, sent={0: 5})).starts
    for start in starts:
        assert start.expected == {1: {0: 3}, 0: {1: 5}}


def test_without_the_affected_agents_the_others_tallies_count() -> None:
    course = rounds(2, 4)
    course.opening()
    for worker, (group, tally, others) in enumerate([(0, 5, 4), (0, 7, None), (1, 1, None), (1, 2, 1)]):
        end = done(group, 1, tally)
        if others is not None:
            end = msgspec.structs.replace(end, n_affected=1, unaffected=msgspec.msgpack.encode(others))
        course.take(worker, end)
    ended = course.overall()
    assert ended is not None
    round_, outcome, groups = ended
    assert outcome.stats == {"sum": 15}
    assert course.unaffected(round_, reversed(groups)) == {"sum": 13}


def test_a_round_without_affected_agents_has_no_other_result() -> None:
    course = rounds(1, 1)
    course.opening()
    course.take(0, done(0, 1))
    ended = course.overall()
    assert ended is not None
    assert course.unaffected(1, ended[2]) is None


@pytest.mark.parametrize("arrival", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_tallies_come_in_agent_order_whoever_is_first(arrival: tuple[int, ...]) -> None:
    class Ordered(Sums):
        def conclude(self, round_: int, group: int, tallies: Any) -> Outcome:
            return Outcome({"tallies": str(tallies)})

    course = rounds(1, 3, kind=Ordered)
    course.opening()
    for worker in arrival:
        ended = course.take(worker, done(0, 1, worker * 10)).ended
    [(_, state)] = ended
    assert state.outcome is not None
    assert state.outcome.stats == {"tallies": "[0, 10, 20]"}


class Room(Environment):
    pass


class World(Environment):
    scope = "world"


def with_environments(groups: int, workers: int, **kinds: type[Environment]) -> Rounds:
    scenario = CoupledSums(ScenarioSettings(rounds=3, groups=groups), 12, 1)
    placement = Placement(12, groups, workers)
    addresses = Addresses(kinds, 12, groups, lambda group: placement.of(group)[0].worker)
    return Rounds(lambda _: scenario, placement, 3, lambda: 1e9, addresses=addresses)


def test_environments_end_a_round_when_all_that_was_told_to_them_is_in() -> None:
    course = with_environments(1, 2, room=Room)
    course.opening()
    assert course.take(0, done(0, 1, sent={1: 4})) == Progressed()
    progressed = course.take(1, done(0, 1, sent={0: 3}))
    assert progressed == Progressed(settle=[Settlement(0, 0, 1, {0: 3})])
    assert course.overall() is None
    progressed = course.settle(Settled(0, 1, {"room": {"price": 7}}, {1: 2}))
    [start] = progressed.starts
    assert start.expected == {0: {0: 3}, 1: {0: 6}}
    ended = course.overall()
    assert ended is not None
    assert ended[1].stats == {"sum": 2, "price": 7}


def test_those_of_the_world_end_it_after_those_of_all_groups() -> None:
    course = with_environments(2, 2, room=Room, town=World)
    course.opening()
    told = [course.take(group, done(group, 1)) for group in (1, 0)]
    assert [part.settle for part in told] == [[Settlement(1, 1, 1, {})], [Settlement(0, 0, 1, {})]]
    assert course.settle(Settled(1, 1, {"room": {"price": 7}}, {0: 1})) == Progressed()
    progressed = course.settle(Settled(0, 1, {"room": {"price": 5}}, {}))
    assert progressed == Progressed(settle=[Settlement(0, WORLD, 1, {1: 1})])
    progressed = course.settle(Settled(WORLD, 1, {"town": {"rent": 3}}, {1: 9}))
    assert [(start.group, start.expected) for start in progressed.starts] == [
        (group, {0: {1: 1}, 1: {WORLD: 9}}) for group in (0, 1)
    ]
    stats = [state.outcome.stats for _, state in progressed.ended if state.outcome]
    assert stats == [{"sum": 1, "price": 5, "rent": 3}, {"sum": 1, "price": 7, "rent": 3}]
    ended = course.overall()
    assert ended is not None
    assert ended[1].stats == {"sum": 2, "price": 6, "rent": 3}


def test_what_only_environments_of_groups_know_is_averaged_over_those_who_know_it() -> None:
    course = with_environments(4, 2, room=Room)
    course.opening()
    reports: list[dict[str, Any]] = [{"price": 7}, {"price": 4, "won": "a"}, {"price": None}, {"poor": None}]
    for group in (2, 0, 3, 1):
        course.take(group // 2, done(group, 1))
        course.settle(Settled(group, 1, {"room": reports[group]}, {}))
    ended = course.overall()
    assert ended is not None
    assert ended[1].stats == {"sum": 4, "price": 5.5, "poor": None}, "a text has no mean"

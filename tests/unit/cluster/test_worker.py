"""Workers without sockets: whatever their number and the order of what arrives, a run comes to the same."""

import json
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.agents.effects import AnswerFailed
from engine.keys import unpack
from tests.fakes.cluster import Cluster
from tests.fakes.journal import replies_of
from tests.unit.cluster.conftest import Presets

SEVERAL = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def played(presets: Presets, size: int, workers: int, order: int = 0, **options: Any) -> Cluster:
    cluster = Cluster(presets(size, workers, **options), Random(order)).play()
    assert cluster.is_over, "the run got stuck"
    return cluster


def values(cluster: Cluster) -> list[list[Any]]:
    return [json.loads(str(outcome.stats["values"])) for outcome in cluster.outcomes]


@SEVERAL
@given(
    size=st.integers(1, 24),
    groups=st.integers(1, 6),
    workers=st.integers(1, 6),
    order=st.integers(0, 2**32),
    coupled=st.booleans(),
)
def test_a_run_does_not_depend_on_workers_nor_on_timing(
    presets: Presets, size: int, groups: int, workers: int, order: int, coupled: bool
) -> None:
    options: dict[str, Any] = {"groups": min(groups, size), "rounds": 3}
    options |= {"coupled": True} if coupled else {"act": "talks"}
    one, many = played(presets, size, 1, **options), played(presets, size, workers, order, **options)
    assert values(many) == values(one)
    assert sorted(many.rows) == sorted(one.rows)
    assert many.failures == one.failures == []
    assert len({key for key, *_ in many.rows}) == len(many.rows) == many.n_requests


def test_talking_agents_do_talk(presets: Presets) -> None:
    """The test above would prove little if nothing were heard or asked."""
    cluster = played(presets, 12, 3, act="talks", rounds=2)
    calls = [unpack(key) for key, *_ in cluster.rows]
    assert any(call.call >= 2048 for call in calls), "somebody answered somebody"
    assert len(calls) > 3 * 12 * 2
    alone = played(presets, 12, 3, act="talks", rounds=1)
    assert values(cluster)[0] == values(alone)[0]


@pytest.mark.parametrize("window", [1, 2, 7])
def test_a_small_window_delays_but_never_blocks(presets: Presets, window: int) -> None:
    """Agents that wait for agents that have not begun must not keep those from beginning."""
    narrow = played(presets, 12, 2, act="talks", rounds=2, engine={"window": window})
    assert values(narrow) == values(played(presets, 12, 2, act="talks", rounds=2))


def test_a_window_bounds_the_open_requests(presets: Presets) -> None:
    cluster = Cluster(presets(50, 1, engine={"window": 5}), Random(1))
    most = 0
    take = cluster.workers[0].take_results

    def counting(model: str, results: Any) -> None:
        nonlocal most
        most = max(most, cluster.workers[0].n_open)
        take(model, results)

    cluster.workers[0].take_results = counting  # type: ignore[method-assign]
    cluster.play()
    assert cluster.is_over
    assert most == 5


@pytest.mark.parametrize(
    ("act", "kind", "told"),
    [
        ("raises", "exception", "LookupError: the victim's own fault"),
        ("exits", "exception", "SystemExit: 7"),
        ("rubbish", "wrong value", "step() returned 'not a number': a value has to be a number"),
        ("megabyte", "wrong value", "(1000002 characters)"),
        ("forgetful", "exception", "async def"),
    ],
)
def test_a_failing_agent_is_stopped_and_recorded_and_the_others_go_on(
    presets: Presets, act: str, kind: str, told: str
) -> None:
    cluster = played(presets, 6, 2, act=act, victim=4, when=2, rounds=3)
    victims = range(6) if act == "forgetful" else [4]
    assert sorted(unpack(key).agent for key, *_ in cluster.failures) == list(victims)
    _, found, detail, traceback, action = cluster.failures[0]
    assert (found, action) == (kind, "agent stopped")
    assert told in detail
    assert len(detail) < 700
    assert "Error" in traceback or "SystemExit" in traceback
    if act != "forgetful":
        assert [row[4] is None for row in values(cluster)] == [False, True, True]
        assert all(value is not None for row in values(cluster) for i, value in enumerate(row) if i != 4)
    assert sum(worker.failures[kind] for worker in cluster.workers) == len(victims)


def test_a_traceback_shows_the_agents_own_line(presets: Presets) -> None:
    cluster = played(presets, 2, 1, act="raises", rounds=1)
    assert "raise LookupError" in cluster.failures[0][3]


def test_agents_without_an_answer_are_left_out_of_that_round_only(
    presets: Presets, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.fakes import trial

    class Excluded(trial.Plain):
        async def misbehave(self) -> Any:
            raise AnswerFailed("unparsed")

    monkeypatch.setitem(trial.ACTS, "excluded", Excluded)
    cluster = played(presets, 4, 2, act="excluded", victim=1, when=1, rounds=2)
    assert [row[1] is None for row in values(cluster)] == [True, False]
    assert cluster.failures == []


def test_rows_leave_before_what_depends_on_them(presets: Presets) -> None:
    """A reply that was acted on but not written would be asked for again after a crash."""
    cluster = Cluster(presets(10, 2, act="talks", rounds=2), Random(3))
    written: set[int] = set()
    for worker in cluster.workers:
        desk = worker._outbox
        to_journal, to_model, taken = desk.to_journal, desk.to_model, worker.take_results
        replied: set[int] = set()

        def journal(batch: Any, to_journal: Any = to_journal) -> None:
            written.update(row[0] for row in replies_of(batch))
            to_journal(batch)

        def model(name: str, batch: Any, to_model: Any = to_model, replied: set[int] = replied) -> None:
            assert replied <= written
            to_model(name, batch)

        def take(name: str, results: Any, taken: Any = taken, replied: set[int] = replied) -> None:
            replied.update(result.key for result in results)
            taken(name, results)

        desk.to_journal, desk.to_model, worker.take_results = journal, model, take  # type: ignore[method-assign]
    cluster.play()
    assert cluster.is_over


def test_an_agent_still_busy_with_an_old_answer_begins_its_step_when_it_is_free(
    presets: Presets, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One asked, gave up, and the round ended; the asked one still waits for its model."""
    from engine.agents.post import NoAnswer
    from tests.fakes import trial

    class Impatient(trial.Plain):
        async def step(self, observation: float) -> Any:
            if self.round == 1 and self.id == 0:
                try:
                    await self.ask(1, "slowly, please")
                except NoAnswer:
                    return 0
            return self.round if self.round == 1 else await self.number("?")

        async def receive(self, message: str, sender: int) -> Any:
            return await self.number("slow")

    monkeypatch.setitem(trial.ACTS, "impatient", Impatient)
    cluster = Cluster(presets(2, 1, act="impatient", rounds=2), Random(1))
    [worker] = cluster.workers
    held: list[Any] = []
    take = worker.take_results

    def holding(model: str, results: Any) -> None:
        if unpack(results[0].key).call >= 2048 and not held:
            held.append((model, results))
        else:
            take(model, results)

    worker.take_results = holding  # type: ignore[method-assign]
    cluster.play()
    assert len(held) == 1
    worker.stand_still()
    cluster.later(lambda: None)
    cluster.go_on()
    assert not cluster.is_over
    take(*held[0])
    cluster.later(lambda: None)
    cluster.go_on()
    assert cluster.is_over
    assert [kind for _, kind, *_ in cluster.failures] == ["no answer"]
    assert None not in values(cluster)[1]

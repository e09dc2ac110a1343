"""Runs in one process, on any number of workers, whatever arrives when, and whatever dies when.

The result is the same, and what is in the journal is never asked for again.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.models.settings import Policy
from engine.preset.schema import Answers, Engine, Population, Preset
from tests.fakes.improvise import CoupledSettings, ImproviseSettings
from tests.fakes.journals import EXACTLY, WHATEVER_THE_TURNS, content, differences, keys
from tests.fakes.stage import Stage

DIVERGED = {"events": "SELECT detail FROM events WHERE kind = 'diverged'"}
SEVERAL = settings(max_examples=40, deadline=None)


@st.composite
def plans(draw: Any, **fixed: Any) -> Preset:
    """Any small run."""
    size = draw(st.integers(1, 12))
    kind = draw(st.sampled_from([ImproviseSettings, CoupledSettings]))
    options = {
        "plan": draw(st.integers(0, 2**32)),
        "groups": draw(st.integers(1, min(size, 4))),
        "rounds": draw(st.integers(1, 4)),
        "raising": draw(st.sampled_from([0.0, 0.05])),
    }
    answers = draw(st.sampled_from([Answers(), Answers(on_failure="last"), Answers(retries=0)]))
    return Preset(
        name="any",
        scenario=kind(**options | fixed),
        population=Population(size=size),
        model=Policy(policy="echo"),
        answers=answers,
        engine=Engine(workers=1, window=draw(st.sampled_from([1, 3, 1000])), failure_budget=1.0),
    )


def on(workers: int, preset: Preset) -> Preset:
    """Return the same run on another number of workers."""
    return msgspec.structs.replace(preset, engine=msgspec.structs.replace(preset.engine, workers=workers))


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


def check_same(one: Path, other: Path, queries: dict[str, str]) -> None:
    assert differences(content(one / "run.db", queries), content(other / "run.db", queries)) == []


@SEVERAL
@given(preset=plans(), seed=st.integers(0, 2**32))
def test_the_same_on_any_number_of_workers(preset: Preset, seed: int) -> None:
    with folder() as one:
        alone = Stage(on(1, preset), one, Random(seed)).play()
        for workers in (2, 5):
            with folder() as many:
                stage = Stage(on(workers, preset), many, Random(seed)).play()
                check_same(one, many, WHATEVER_THE_TURNS)
                assert len(stage.asked) == len(set(stage.asked)) == len(alone.asked)


KILLS = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from(["all", "worker", "service"]), st.sampled_from([1, 2, 5])),
    max_size=6,
)


def play_with_kills(preset: Preset, path: Path, seed: int, kills: list[tuple[int, str, int]]) -> None:
    """Play to the end, and check that nothing in the journal when something dies is asked for again."""
    order = Random(seed)
    stage, deaths = Stage(preset, path, order), 0
    for arrivals, what, workers in kills:
        stage.go_on(arrivals)
        if stage.is_over:
            break
        committed, n_asked = keys(path / "run.db"), len(stage.asked)
        deaths += what != "all"
        if what == "all" or deaths > 3:
            stage.kill()
            stage, n_asked, deaths = Stage(on(workers, preset), path, order, resumed=True), 0, 0
        elif what == "worker":
            stage.kill_worker(order.randrange(len(stage.workers)))
        else:
            stage.kill_service()
        stage.go_on(order.randrange(40))
        assert committed.isdisjoint(stage.asked[n_asked:]), what
    stage.play()


@SEVERAL
@given(preset=plans(), seed=st.integers(0, 2**32), kills=KILLS)
def test_the_same_whatever_dies(preset: Preset, seed: int, kills: list[tuple[int, str, int]]) -> None:
    with folder() as quiet, folder() as stormy:
        Stage(preset, quiet, Random(seed)).play()
        play_with_kills(preset, stormy, seed, kills)
        check_same(quiet, stormy, WHATEVER_THE_TURNS)


@SEVERAL
@given(preset=plans(stateful=True), seed=st.integers(0, 2**32), kills=KILLS)
def test_a_replay_agrees_whatever_has_died(
    preset: Preset, seed: int, kills: list[tuple[int, str, int]]
) -> None:
    """Here the answers of an agent depend on who came first, which the journal knows."""
    with folder() as run:
        play_with_kills(preset, run, seed, kills)
        for workers in (1, 2, 5):
            with folder() as scratch:
                again = Stage(on(workers, preset), scratch, Random(seed), resumed=True, replay_of=run).play()
                assert again.asked == []
                found, there = content(scratch / "run.db", EXACTLY), content(run / "run.db", EXACTLY)
                for table in ("failures", "messages"):
                    assert differences({table: there[table]}, {table: found[table]}) == []
                assert len(again.coordinator.reports) == preset.scenario.rounds
                assert content(scratch / "run.db", DIVERGED) == {"events": []}

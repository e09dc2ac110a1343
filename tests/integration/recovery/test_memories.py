"""Runs whose agents forget, sum up and recall: the same on any number of workers, after kills, replayed."""

from pathlib import Path
from random import Random

import msgspec
import pytest

from engine.agents.memories.settings import (
    AnyMemory,
    FullHistory,
    Retrieval,
    RunningSummary,
    SlidingWindow,
)
from engine.keys import unpack
from engine.models.settings import Dummy
from engine.preset.schema import Answers, Engine, Journal, Population, Preset
from engine.scenarios.guess_average import GuessAverageSettings
from tests.fakes.journals import EXACTLY, content, differences, keys
from tests.fakes.stage import Stage

KINDS = [
    FullHistory(budget_tokens=700),
    SlidingWindow(exchanges=1),
    RunningSummary(exchanges=1, every=2, max_words=10),
    RunningSummary(exchanges=3, every=50, max_words=10, budget_tokens=1000),
    Retrieval(exchanges=1, recall=2, budget_tokens=700),
    Retrieval(exchanges=1, recall=2, importance="model"),
]
LEAVING_OUT = [KINDS[0], KINDS[1], KINDS[3], KINDS[4]]  # what is asked again may have no room


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind.__struct_config__.tag}-{kind.budget_tokens}")
def preset(request: pytest.FixtureRequest) -> Preset:
    kind: AnyMemory = request.param
    return Preset(
        name="forgetful",
        scenario=GuessAverageSettings(rounds=5, calls=2, high=999, announce="average"),
        population=Population(size=5),
        model=Dummy(),
        memory=kind,
        answers=Answers(retries=2),
        journal=Journal(snapshot_every=2),
        engine=Engine(workers=2, failure_budget=1.0),
    )


def on(workers: int, preset: Preset) -> Preset:
    return msgspec.structs.replace(preset, engine=msgspec.structs.replace(preset.engine, workers=workers))


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def test_the_same_on_any_number_of_workers_and_replayed(preset: Preset, tmp_path: Path) -> None:
    one = Stage(on(1, preset), folder(tmp_path / "one"), Random(1)).play()
    three = Stage(on(3, preset), folder(tmp_path / "three"), Random(2)).play()
    first = content(tmp_path / "one/run.db", EXACTLY)
    assert differences(first, content(tmp_path / "three/run.db", EXACTLY)) == []
    assert sorted(one.asked) == sorted(three.asked)
    assert ("left out" in [row[1] for row in first["failures"]]) == (preset.memory in LEAVING_OUT)
    again = Stage(
        on(2, preset), folder(tmp_path / "again"), Random(3), resumed=True, replay_of=tmp_path / "one"
    ).play()
    assert again.asked == []
    found = content(tmp_path / "again/run.db", EXACTLY)
    assert differences({"failures": first["failures"]}, {"failures": found["failures"]}) == []


@pytest.mark.parametrize("seed", range(4))
def test_the_same_after_kills_and_nothing_is_asked_twice(preset: Preset, seed: int, tmp_path: Path) -> None:
    dice = Random(seed)
    Stage(preset, folder(tmp_path / "quiet"), dice).play()
    stage = Stage(preset, folder(tmp_path / "stormy"), dice)
    for _ in range(3):
        stage.go_on(60 + dice.randrange(200))
        if stage.is_over:
            break
        committed = keys(tmp_path / "stormy/run.db")
        stage.kill()
        workers = dice.choice([1, 2, 5])
        stage = Stage(on(workers, preset), tmp_path / "stormy", dice, resumed=True)
        stage.go_on(dice.randrange(300))
        assert committed.isdisjoint(stage.asked)
    stage.play()
    quiet, stormy = (content(tmp_path / name / "run.db", EXACTLY) for name in ("quiet", "stormy"))
    assert differences(quiet, stormy) == []
    assert max(unpack(key).round for key in stage.asked) <= preset.scenario.rounds

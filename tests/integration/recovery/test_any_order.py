"""Runs in one process, on any number of workers, whatever arrives when, and whatever dies when.

The result is the same, and what is in the journal is never asked for again.

    SEEDS=2000 pytest tests/integration/recovery/test_any_order.py
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from engine.agents.mail import Mail
from engine.keys import unpack
from engine.models.settings import Policy
from engine.population.settings import Births
from engine.preset.schema import Answers, Engine, Journal, Population, Preset
from tests.fakes.improvise import CoupledSettings, ImproviseSettings
from tests.fakes.journals import EXACTLY, WHATEVER_THE_TURNS, content, differences, keys
from tests.fakes.stage import Stage

SEEDS = range(int(os.environ.get("SEEDS", "50")))
ISOLATED = {"agents": "SELECT agent FROM failures WHERE kind = 'isolated'"}
DIVERGED = {"events": "SELECT detail FROM events WHERE kind = 'diverged'"}


def any_preset(dice: Random, *, stateful: bool = False, circles: bool = False) -> Preset:
    """Return any small run."""
    size = dice.randint(1, 12)
    # The last answer that an agent gave may have been to the last question that came.
    give_up = dice.choice(["exclude", "last"]) if stateful else "exclude"
    settings = dice.choice([ImproviseSettings, CoupledSettings])(
        plan=dice.getrandbits(32),
        groups=dice.randint(1, min(size, dice.choice([1, 4]))),
        rounds=dice.randint(1, 4),
        raising=dice.choice([0.0, 0.05]),
        asking=dice.choice([0.0, 0.7]),
        stateful=stateful,
        circles=circles,
    )
    return Preset(
        name="any",
        scenario=settings,
        population=Population(
            size=size,
            births=Births(per_group=dice.choice([0, 1, 20]), per_parent=dice.choice([None, 1])),
        ),
        model=Policy(policy="echo"),
        answers=Answers(retries=dice.choice([0, 2]), on_failure=give_up),
        journal=Journal(snapshot_every=dice.choice([0, 1, 2])),
        engine=Engine(workers=dice.choice([1, 2, 5]), window=dice.choice([1, 3, 1000]), failure_budget=1.0),
    )


def on(workers: int, preset: Preset) -> Preset:
    """Return the same run on another number of workers."""
    return msgspec.structs.replace(preset, engine=msgspec.structs.replace(preset.engine, workers=workers))


def folder(path: Path) -> Path:
    path.mkdir()
    return path


def check_same(one: Path, other: Path) -> None:
    assert differences(*(content(path / "run.db", WHATEVER_THE_TURNS) for path in (one, other))) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_on_any_number_of_workers(seed: int, tmp_path: Path) -> None:
    preset = any_preset(Random(seed))
    one, two, five = (
        Stage(on(workers, preset), folder(tmp_path / str(workers)), Random(seed)).play()
        for workers in (1, 2, 5)
    )
    check_same(tmp_path / "1", tmp_path / "2")
    check_same(tmp_path / "1", tmp_path / "5")
    assert len(one.asked) == len(two.asked) == len(five.asked)
    assert len(set(two.asked)) == len(two.asked)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_with_hardly_any_room(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One question or call and a few messages may be under way between two: the rest waits its turn."""
    preset = any_preset(Random(seed))
    Stage(on(1, preset), folder(tmp_path / "1"), Random(seed)).play()
    monkeypatch.setattr("engine.cluster.worker.Mail", partial(Mail, credit=1, letters=3))
    monkeypatch.setattr("engine.environments.host.CREDIT", 1)
    Stage(on(5, preset), folder(tmp_path / "5"), Random(seed)).play()
    check_same(tmp_path / "1", tmp_path / "5")


def play_with_kills(
    preset: Preset, path: Path, dice: Random, *others: str, stage_of: Callable[..., Stage] = Stage
) -> None:
    """Play to the end, and check that nothing in the journal when something dies is asked for again."""
    stage, deaths = stage_of(preset, path, dice), 0
    for _ in range(dice.randint(1, 6)):
        stage.go_on(dice.choice([3, 30, 100]) + dice.randrange(100))
        if stage.is_over:
            break
        committed, n_asked = keys(path / "run.db"), len(stage.asked)
        what = dice.choice(["all", "worker", "service", *others]) if deaths < 3 else "all"
        deaths += 1
        if what == "all":
            stage.kill()
            stage = stage_of(on(dice.choice([1, 2, 5]), preset), path, dice, resumed=True)
            n_asked = deaths = 0
        elif what == "worker":
            stage.kill_worker(dice.randrange(len(stage.workers)))
        elif what == "service":
            stage.kill_service()
        else:
            stage.isolate()
        stage.go_on(dice.randrange(200))
        assert committed.isdisjoint(stage.asked[n_asked:]), what
    stage.play()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_whatever_dies(seed: int, tmp_path: Path) -> None:
    dice = Random(seed)
    preset = any_preset(dice)
    Stage(preset, folder(tmp_path / "quiet"), dice).play()
    play_with_kills(preset, folder(tmp_path / "stormy"), dice)
    check_same(tmp_path / "quiet", tmp_path / "stormy")


def without_isolated(rows: dict[str, list[Any]], run: Path) -> dict[str, list[Any]]:
    """Leave out failures of isolated agents: one that was luckier at first is ended at once in a replay."""
    isolated = {agent for (agent,) in content(run / "run.db", ISOLATED)["agents"]}
    return rows | {"failures": [row for row in rows["failures"] if unpack(row[0]).agent not in isolated]}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("others", [(), ("isolation",)], ids=["", "isolation"])
@pytest.mark.parametrize("circles", [False, True], ids=["", "circles"])
def test_a_replay_agrees_whatever_has_died(
    seed: int, circles: bool, others: tuple[str, ...], tmp_path: Path
) -> None:
    """Here the answers of an agent depend on who came first, which the journal knows."""
    dice = Random(seed)
    preset = any_preset(dice, stateful=True, circles=circles)
    run = folder(tmp_path / "run")
    play_with_kills(preset, run, dice, *others)
    there = without_isolated(content(run / "run.db", EXACTLY), run)
    assert "not a member" not in str(there["failures"]), "environments tell newcomers too"
    for workers in (1, 2, 5):
        scratch = folder(tmp_path / f"{workers}")
        again = Stage(on(workers, preset), scratch, dice, resumed=True, replay_of=run).play()
        assert again.asked == []
        found = without_isolated(content(scratch / "run.db", EXACTLY), run)
        for table in ("failures", "messages"):
            assert differences({table: there[table]}, {table: found[table]}) == []
        assert len(again.coordinator.reports) == preset.scenario.rounds
        assert content(scratch / "run.db", DIVERGED) == {"events": []}

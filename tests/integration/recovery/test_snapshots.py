"""A run that goes on from a snapshot ends as one that was never disturbed, or is rebuilt from replies."""

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.agents.agent import Agent
from engine.agents.world import World
from engine.journal.branch import copy_rounds
from engine.models.settings import Policy
from engine.preset.schema import Answers, Engine, Journal, Population, Preset
from tests.fakes.improvise import (
    CoupledSettings,
    Improvise,
    ImproviseCoupled,
    Improviser,
    ImproviseSettings,
    Stall,
)
from tests.fakes.journals import WHATEVER_THE_TURNS, content, differences
from tests.fakes.stage import Stage

ROUNDS = 9
SEEDS = range(8)


def any_preset(seed: int, every: int = 2, on_failure: str = "exclude") -> Preset:
    dice = Random(seed)
    settings = dice.choice([ImproviseSettings, CoupledSettings])(
        plan=seed, rounds=ROUNDS, groups=dice.choice([1, 3]), raising=0.05, asking=dice.choice([0.0, 0.4])
    )
    return Preset(
        name="any",
        scenario=settings,
        population=Population(size=9),
        model=Policy(policy="echo"),
        answers=Answers(on_failure=on_failure),  # type: ignore[arg-type]
        journal=Journal(snapshot_every=every),
        engine=Engine(workers=2, failure_budget=1.0),
    )


def on(workers: int, preset: Preset) -> Preset:
    return msgspec.structs.replace(preset, engine=msgspec.structs.replace(preset.engine, workers=workers))


def play_up_to(round_: int, preset: Preset, path: Path, seed: int = 0) -> Stage:
    """Play until a round is over, and kill everything a little later."""
    path.mkdir()
    stage = Stage(preset, path, Random(seed))
    while len(stage.coordinator.reports) < round_:
        stage.go_on(5)
    stage.go_on(20).kill()
    return stage


def snapshots(path: Path) -> list[int]:
    with closing(sqlite3.connect(path / "run.db")) as db:
        return [round_ for (round_,) in db.execute("SELECT DISTINCT round FROM _snapshots ORDER BY round")]


def spoil(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path / "run.db")) as db, db:
        db.execute(sql)


def go_on(preset: Preset, path: Path, **setup: object) -> Stage:
    return Stage(preset, path, Random(7), resumed=True, **setup).play()


@pytest.fixture(autouse=True)
def no_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither they nor births are in snapshots, so that runs with them have none."""
    for scenario in (Improvise, ImproviseCoupled):
        monkeypatch.setattr(scenario, "environments", {})
        monkeypatch.setattr(scenario, "dynamic", False)


@pytest.fixture
def quiet(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same run, undisturbed and without snapshots."""
    (tmp_path / "quiet").mkdir()
    Stage(any_preset(getattr(request, "param", 1), every=0), tmp_path / "quiet", Random(0)).play()
    return tmp_path / "quiet"


def check_same(one: Path, other: Path) -> None:
    assert differences(*(content(path / "run.db", WHATEVER_THE_TURNS) for path in (one, other))) == []


@pytest.mark.parametrize(("quiet", "seed"), [(seed, seed) for seed in SEEDS], indirect=["quiet"])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_resumed_run_goes_on_from_the_last_snapshot(
    quiet: Path, seed: int, workers: int, tmp_path: Path
) -> None:
    preset = any_preset(seed)
    stage = play_up_to(7, preset, tmp_path / "run", seed)
    again = go_on(on(workers, preset), stage.setup.directory)
    assert min(again.begun) in (7, 9)
    assert [report.round for report in again.coordinator.reports] == list(range(1, ROUNDS + 1))
    assert set(again.asked).isdisjoint(key for key in stage.asked if key in keys_of_replies(quiet, 6))
    check_same(quiet, tmp_path / "run")
    assert snapshots(tmp_path / "run") == [6, 8]


def keys_of_replies(path: Path, last: int) -> set[int]:
    with closing(sqlite3.connect(path / "run.db")) as db:
        return {key for (key,) in db.execute("SELECT key FROM replies WHERE round <= ?", (last,))}


def test_failures_before_a_snapshot_count(quiet: Path, tmp_path: Path) -> None:
    preset = any_preset(1)
    again = go_on(preset, play_up_to(7, preset, tmp_path / "run").setup.directory)
    with closing(sqlite3.connect(quiet / "run.db")) as db:
        sql = "SELECT kind, count(*) FROM failures WHERE round < ? GROUP BY kind"
        known = dict(db.execute(sql, (min(again.begun),)))
    assert again.coordinator.snapshot().failures == known


def test_a_worker_that_dies_is_rebuilt_from_the_snapshot(quiet: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    stage = Stage(any_preset(1), tmp_path / "run", Random(3))
    while len(stage.coordinator.reports) < 5:
        stage.go_on(5)
    before = len(stage.begun)
    stage.kill_worker(0)
    stage.play()
    assert min(stage.begun[before:]) == 5
    check_same(quiet, tmp_path / "run")


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE _snapshots SET code = 'of other code'",
        "DELETE FROM _snapshots WHERE first = 0",
        "DELETE FROM _snapshots",
    ],
)
def test_without_a_usable_snapshot_all_is_rebuilt_from_replies(
    quiet: Path, harm: str, tmp_path: Path
) -> None:
    preset = any_preset(1)
    path = play_up_to(7, preset, tmp_path / "run").setup.directory
    spoil(path, harm)
    again = go_on(preset, path)
    assert min(again.begun) == 1
    check_same(quiet, path)


def test_a_struct_that_has_changed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where the hash does not tell: a class from a module that the scenario's does not name."""

    class Other(msgspec.Struct):
        heard: str = ""

    preset = any_preset(1)
    path = play_up_to(7, preset, tmp_path / "run").setup.directory
    monkeypatch.setattr(Improviser, "State", Other)
    with pytest.raises(Exception, match="is not what the snapshot holds") as caught:
        go_on(preset, path)
    assert "snapshot_every=0" in caught.value.hint  # type: ignore[attr-defined]


def test_what_cannot_be_kept_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(msgspec.Struct):
        heard: int = 0
        n_asked: int = 0
        what: object = Random

    monkeypatch.setattr(Improviser, "State", Other)
    with pytest.raises(Exception, match="cannot be kept in a snapshot"):
        play_up_to(7, any_preset(1), tmp_path / "run")


@pytest.mark.parametrize("preset", [any_preset(1, every=0), any_preset(1, on_failure="last")])
def test_no_snapshots_where_none_are_wanted_or_an_answer_may_stand_for_a_later_one(
    preset: Preset, tmp_path: Path
) -> None:
    stage = play_up_to(7, preset, tmp_path / "run")
    assert snapshots(tmp_path / "run") == []
    assert min(go_on(preset, stage.setup.directory).begun) == 1


def test_no_snapshots_of_agents_that_do_not_declare_their_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Improviser.State

    def enter(agent: Improviser, world: World) -> None:
        agent.state = made()
        Agent.enter(agent, world)

    monkeypatch.setattr(Improviser, "State", None)
    monkeypatch.setattr(Improviser, "enter", enter)
    play_up_to(7, any_preset(1), tmp_path / "run")
    assert snapshots(tmp_path / "run") == []


def test_no_snapshots_of_agents_whose_state_only_another_class_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Collector(Improviser):
        """May keep more than what Improviser declares."""

    monkeypatch.setattr(Improvise, "agent", lambda self, agent_id: Collector(agent_id))
    play_up_to(7, any_preset(1), tmp_path / "run")
    assert snapshots(tmp_path / "run") == []


def test_a_replay_begins_at_the_beginning(quiet: Path, tmp_path: Path) -> None:
    preset = any_preset(1)
    path = play_up_to(7, preset, tmp_path / "run").setup.directory
    (tmp_path / "scratch").mkdir()
    again = go_on(preset, tmp_path / "scratch", replay_of=path)
    assert min(again.begun) == 1
    assert again.asked == []


@pytest.mark.parametrize(("round_", "first"), [(5, 5), (4, 3), (1, 1)])
def test_a_branch_uses_snapshots_of_rounds_before_its_last_shared_one(
    round_: int, first: int, tmp_path: Path
) -> None:
    """What is heard after the last shared round is the branch's own affair."""
    preset = any_preset(1)
    path = play_up_to(5, preset, tmp_path / "run").setup.directory
    after = msgspec.structs.replace(
        preset, scenario=msgspec.structs.replace(preset.scenario, style="otherwise ")
    )
    made = {}
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
        copy_rounds(path / "run.db", tmp_path / name / "run.db", round_)
        if name == "without":
            spoil(tmp_path / name, "DELETE FROM _snapshots")
        made[name] = go_on(after, tmp_path / name, before=preset, branched_at=round_)
    assert min(made["with"].begun) == first
    assert min(made["without"].begun) == 1
    both = [content(tmp_path / name / "run.db", WHATEVER_THE_TURNS) for name in ("with", "without")]
    assert differences(*both) == []


@pytest.mark.parametrize(("name", "value"), [("environments", {"stall": Stall}), ("dynamic", True)])
def test_runs_with_environments_or_births_have_none(
    name: str, value: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Improvise, name, value)
    preset = msgspec.structs.replace(any_preset(1), scenario=ImproviseSettings(plan=1, rounds=ROUNDS))
    again = go_on(preset, play_up_to(7, preset, tmp_path / "run").setup.directory)
    assert min(again.begun) == 1
    assert snapshots(tmp_path / "run") == []


@pytest.mark.parametrize("workers", [1, 3])
def test_agents_that_have_not_acted_yet_act_later_and_hear_what_they_were_told(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most sleep until round 8, unless somebody tells them something."""

    def acts(self: Improvise, round_: int, members: range, observation: float) -> NDArray[np.bool_]:
        return np.array([round_ > 7 or agent < 3 for agent in members])

    for scenario in (Improvise, ImproviseCoupled):
        monkeypatch.setattr(scenario, "acts", acts)
    for seed in SEEDS:
        quiet, path = tmp_path / f"quiet {seed}", tmp_path / f"run {seed}"
        quiet.mkdir()
        Stage(any_preset(seed, every=0), quiet, Random(0)).play()
        preset = any_preset(seed)
        play_up_to(6, preset, path, seed)
        go_on(on(workers, preset), path)
        check_same(quiet, path)

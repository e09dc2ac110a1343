"""Scenarios that act through environments come to the same whatever arrives when, dies, or is silent."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from engine.models.protocol import Catalogue, Request
from engine.models.settings import Policy
from engine.preset.schema import Engine, Population, Preset
from engine.scenarios.chat_room import ChatRoomSettings
from engine.scenarios.double_auction import DoubleAuctionSettings
from engine.scenarios.negotiation import NegotiationSettings
from engine.scenarios.scenario import ScenarioSettings
from engine.scenarios.voting import VotingSettings
from tests.fakes.journals import WHATEVER_THE_TURNS, content, differences
from tests.fakes.play import following
from tests.fakes.stage import Stage

GAMES: list[tuple[ScenarioSettings, int, str]] = [
    (DoubleAuctionSettings(rounds=5, groups=2, day=3, clear=False), 10, "zi_constrained"),
    (VotingSettings(rounds=4, groups=2, method="borda"), 9, "bandwagon"),
    (NegotiationSettings(rounds=8, groups=3), 6, "time_dependent"),
    (ChatRoomSettings(rounds=5, groups=2, turns=0.5), 12, "talker"),
]
MUTE = {1, 5}


def runs(game: tuple[ScenarioSettings, int, str], seed: int) -> Callable[..., Stage]:
    """Return what begins a run, or goes on with it, on so many workers."""
    settings, size, policy = game
    chosen = Policy(policy=policy)
    model: Callable[[Request, Catalogue], str] = following(chosen, settings, seed, MUTE)

    def stage(path: Path, workers: int, dice: Random, *, resumed: bool = False) -> Stage:
        path.mkdir(exist_ok=True)
        engine = Engine(workers=workers, failure_budget=1.0)
        preset = Preset(
            name="any",
            seed=seed,
            scenario=settings,
            population=Population(size=size),
            model=chosen,
            engine=engine,
        )
        return Stage(preset, path, dice, model=model, resumed=resumed)

    return stage


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game[0].scenario_name)
@pytest.mark.parametrize("seed", range(4))
def test_the_same_on_any_number_of_workers_whatever_dies(
    game: tuple[ScenarioSettings, int, str], seed: int, tmp_path: Path
) -> None:
    dice, begin = Random(seed), runs(game, seed)
    for workers in (1, 2, 5):
        begin(tmp_path / f"{workers}", workers, dice).play()
    stormy = begin(tmp_path / "stormy", 2, dice).go_on(60 + dice.randrange(100))
    stormy.kill_worker(1)
    stormy.go_on(dice.randrange(200))
    if not stormy.is_over:
        stormy.kill()
        begin(tmp_path / "stormy", dice.choice([1, 2, 5]), dice, resumed=True).play()
    quiet = content(tmp_path / "1" / "run.db", WHATEVER_THE_TURNS)
    assert quiet["failures"], "some give no answer"
    for other in ("2", "5", "stormy"):
        assert differences(quiet, content(tmp_path / other / "run.db", WHATEVER_THE_TURNS)) == [], other


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game[0].scenario_name)
def test_the_others_go_on_when_one_has_stopped(
    game: tuple[ScenarioSettings, int, str], tmp_path: Path
) -> None:
    stage = runs(game, 1)(tmp_path, 2, Random(1))
    while stage.isolate() is None:
        stage.go_on(5)
    stage.play()
    assert len(stage.coordinator.reports) == game[0].rounds
    stopped = content(tmp_path / "run.db", {"agents": "SELECT agent FROM failures WHERE kind = 'isolated'"})
    assert len(stopped["agents"]) == 1

"""The El Farol bar and the minority game: the statistics that are known of them."""

from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from engine.models.policy import Turn
from engine.scenarios import el_farol_rules as rules
from engine.scenarios.el_farol import ElFarol, ElFarolSettings
from tests.fakes.play import play


def evenings(policy: str, n: int, rounds: int, capacity: float, **parameters: float) -> np.ndarray:
    """Play a bar by the rule alone; return how many went."""
    dice = Random(1)
    traits = [dice.random() for _ in range(n)]
    settings, history = SimpleNamespace(capacity=capacity), []
    for _ in range(rounds):
        facts = {"history": history, "players": n}
        words = [rules.POLICIES[policy](Turn(facts, settings, parameters, trait, dice)) for trait in traits]
        history = [*history, words.count(rules.GO)]
    return np.array(history)


def test_attendance_averages_the_capacity_and_keeps_fluctuating() -> None:
    """Arthur (1994): 100 people, room for 60; attendance settles around 60 and never rests."""
    told = evenings("predictors", 100, 150, 0.6)[50:]
    assert told.mean() == pytest.approx(60, abs=4)
    assert told.std() > 2
    assert (told > 60).mean() == pytest.approx(0.5, abs=0.25)


@pytest.mark.parametrize(
    ("memory", "low", "high"),
    [
        (2, 0.3, 10.0),
        (5, 0.0, 0.18),
        (11, 0.18, 0.33),
    ],
)
def test_the_minority_game_is_smoothest_where_theory_says(memory: int, low: float, high: float) -> None:
    """Variance / N: 0.25 by chance; a minimum where 2^m / N is about 0.34; crowds below, chance above."""
    told = evenings("strategies", 101, 400, 0.5, memory=memory)[100:]
    assert low < told.var() / 101 < high


def test_players_at_random_fill_the_bar_on_average(tmp_path: Path) -> None:
    told = play(tmp_path, ElFarolSettings(rounds=10), 50, "random")
    share = [stats["share"] for stats in told]
    assert np.mean(share) == pytest.approx(0.6, abs=0.06)
    assert np.var(np.array(share) * 50) / 50 == pytest.approx(0.24, abs=0.2)


def test_the_run_is_the_rule_with_a_history_that_all_share(tmp_path: Path) -> None:
    one, three = (
        play(tmp_path, ElFarolSettings(rounds=12, groups=2), 40, "predictors", workers=workers)
        for workers in (1, 3)
    )
    assert one == three
    assert len({stats["attendance"] for stats in one}) > 3


def test_who_is_content() -> None:
    game = ElFarol(ElFarolSettings(capacity=0.5), 4, 1)
    full = game.conclude(1, 0, [game.tally(range(4), [1.0, 1.0, 1.0, 0.0])])
    assert (full.stats["crowded"], full.stats["content"]) == (1, 0.25)
    assert full.observation.attendance == 3
    room = game.conclude(1, 0, [game.tally(range(4), [1.0, 1.0, 0.0, None])])
    assert (room.stats["crowded"], room.stats["content"]) == (0, pytest.approx(2 / 3))


def test_predictors_look_at_what_was() -> None:
    history = (10, 20, 30, 40)
    assert rules.PREDICTORS[0](history, 100) == 40
    assert rules.PREDICTORS[7](history, 100) == 60
    assert rules._average(2)(history, 100) == 35
    assert rules._trend(4)(history, 100) == 50
    assert all(0 <= predict((3,), 100) <= 100 for predict in rules.PREDICTORS)
    assert rules.errors(history, 100)[0] == 30


def test_a_model_is_told_of_the_last_evenings() -> None:
    settings = ElFarolSettings(memory=2, rounds=9)
    assert rules.question(settings, 4, (1, 2, 3)) == (
        "On the last evenings, the oldest first, so many went: 2, 3. Evening 4 of 9: do you go or stay?"
    )
    assert rules.question(settings, 1, ()).startswith("Evening 1")
    assert "at most 60 go" in rules.instructions(ElFarolSettings(), 100)

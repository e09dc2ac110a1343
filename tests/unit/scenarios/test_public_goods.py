"""The public goods game: its payoffs, its stages, and how known types of players end up."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.scenarios import public_goods_rules as rules
from engine.scenarios.public_goods import PublicGoods, PublicGoodsSettings
from tests.fakes.play import play


def test_payoffs_are_those_of_fehr_and_gaechter() -> None:
    """Endowment 20, mpcr 0.4, groups of 4: all give everything 32 each, nobody gives 20 (AER 2000)."""
    groups = np.array([20.0, 20, 20, 20, 0, 0, 0, 0, 0, 20, 20, 20])
    earned = rules.payoffs(groups, [0, 4, 8], 20, 0.4)
    assert earned.tolist() == [32, 32, 32, 32, 20, 20, 20, 20, 44, 24, 24, 24]


def test_a_token_given_costs_its_giver_and_helps_the_group() -> None:
    """The dilemma: mpcr is below 1, and above 1 for all members together."""
    before, after = (rules.payoffs(np.array([own, 5.0, 5, 5]), [0], 20, 0.4) for own in (5.0, 6.0))
    assert after[0] < before[0]
    assert after.sum() > before.sum()


@pytest.mark.parametrize(("policy", "contribution", "payoff"), [("free_rider", 0, 20), ("altruist", 20, 32)])
@pytest.mark.parametrize("punishment", [False, True])
def test_selfish_and_altruistic_groups(
    tmp_path: Path, policy: str, contribution: float, payoff: float, punishment: bool
) -> None:
    """The prediction for selfish players is no token given, with punishment or without, as it costs."""
    settings = PublicGoodsSettings(rounds=4, groups=3, punishment=punishment)
    for stats in play(tmp_path, settings, 12, policy):
        assert stats["contribution"] == contribution
        assert stats["payoff"] == payoff
        assert stats.get("points", 0) == 0


def test_contributions_start_at_40_to_60_percent_and_decay(tmp_path: Path) -> None:
    """The pattern of experiments without punishment (Fischbacher et al. 2001: 30 % free riders)."""
    told = play(tmp_path, PublicGoodsSettings(rounds=10, groups=60), 240, "types")
    shares = [stats["share"] for stats in told]
    assert 0.4 <= shares[0] <= 0.6
    assert shares[-1] < shares[0] / 2
    assert told[0]["free riders"] / 240 == pytest.approx(0.3, abs=0.06)


def test_punishment_keeps_contributions_up(tmp_path: Path) -> None:
    """Fehr and Gaechter (2000): with punishment contributions rise, without they fall; same players."""
    told = play(tmp_path, PublicGoodsSettings(rounds=20, groups=30, punishment=True), 120, "types")
    contributions = [stats["contribution"] for stats in told[::2]]
    assert contributions[-1] > 1.3 * contributions[0]
    assert contributions[-1] / 20 > 0.6
    assert told[1]["payoff"] < 20 < told[-1]["payoff"]
    assert told[-1]["points"] < told[1]["points"] / 4


def test_points_cost_both(tmp_path: Path) -> None:
    game = PublicGoods(PublicGoodsSettings(rounds=2, punishment=True), 3, 1)
    tallies = [
        game.tally(range(2), [(20.0, 0.0, 0.0, 4.0), (10.0, 0.0, 0.0, 1.0)]),
        game.tally(range(2, 3), [(0.0, 0.0, 0.0, 0.0)]),
    ]
    outcome = game.conclude(2, 0, tallies)
    assert outcome.observation.received == (0, 0, 5)
    earned = rules.payoffs(np.array([20.0, 10, 0]), [0], 20, 0.4)
    assert outcome.stats["payoff"] == pytest.approx((earned.sum() - 5 * (1 + 3)) / 3)
    assert game.overall(2, tallies).stats == outcome.stats


def test_who_does_not_answer_gives_nothing_and_counts_for_nothing() -> None:
    game = PublicGoods(PublicGoodsSettings(rounds=2, punishment=True), 3, 1)
    tallies = [game.tally(range(1), [None]), game.tally(range(1, 3), [(10.0,), (20.0,)])]
    outcome = game.conclude(1, 0, tallies)
    assert outcome.observation.contributions == (None, 10, 20)
    assert outcome.stats["contribution"] == 15
    sanctions = [game.tally(range(1), [None]), game.tally(range(1, 3), [(10.0, 1, 0, 0), (20.0, 2, 3, 0)])]
    assert game.conclude(2, 0, sanctions).observation.received == (3, 3, 0)


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"groups": 6}, "groups"),
        ({"rounds": 5, "punishment": True}, "rounds"),
    ],
)
def test_settings_that_make_no_game(settings: dict[str, Any], where: str) -> None:
    assert [key for key, _, _ in PublicGoodsSettings(**settings).problems(11)] == [where]


def test_groups_that_punish_are_small() -> None:
    assert PublicGoodsSettings(rounds=4, punishment=True).problems(101)[0][0] == "groups"
    assert PublicGoodsSettings(rounds=4, punishment=True, groups=2).problems(200) == []


def test_members_read_the_rules_and_their_news() -> None:
    text = rules.instructions(PublicGoodsSettings(rounds=6, punishment=True), 4)
    for fact in ("4 members", "3 periods", "20 tokens", "0.4 tokens", "costs you 1 tokens", "takes 3 tokens"):
        assert fact in text
    assert "deduction" not in rules.instructions(PublicGoodsSettings(), 4)
    assert rules.news(5.0, 8.25, 21.4, 2.0) == (
        "In the last period you contributed 5 tokens, got 2 deduction points and earned 21.4; the others "
        "contributed 8.2 on average. "
    )
    asked = rules.punishment_question(5.0, [(0, 20.0), (2, None)])
    assert "member 1 20, member 3 nothing (no answer)" in asked
    assert "a JSON list of 2" in asked

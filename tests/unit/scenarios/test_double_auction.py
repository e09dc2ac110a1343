"""The double auction: the efficiency of traders without intelligence, and prices near the equilibrium."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from engine.models.policy import Turn
from engine.scenarios import double_auction_rules as rules
from engine.scenarios.double_auction import DoubleAuctionSettings
from engine.scenarios.order_book import Side
from engine.scenarios.registry import find
from tests.fakes.play import Stats, play

DEMAND = (
    190,
    180,
    170,
    160,
    150,
    140,
    132,
    125,
    118,
    112,
    107,
    103,
    100,
    98,
    96,
    94,
    88,
    87,
    86,
    85,
    84,
    83,
    82,
    81,
)
SUPPLY = (10, 20, 30, 38, 45, 52, 58, 63, 68, 72, 76, 79, 82, 84, 86, 88, 94, 95, 96, 97, 98, 99, 100, 101)
"""Like the markets of Gode and Sunder: 6 buyers and 6 sellers with 4 units each; 16 change hands at 91."""


def market(**more: object) -> DoubleAuctionSettings:
    return DoubleAuctionSettings(**{"rounds": 60, "demand": DEMAND, "supply": SUPPLY, "units": 4, **more})  # type: ignore[arg-type]


def ends(directory: Path, policy: str) -> Stats:
    """Return how one day ends in 8 markets, on average."""
    return play(directory, market(groups=8), 96, policy)[-1]


def test_traders_without_intelligence_find_nearly_all_gains(tmp_path: Path) -> None:
    """Gode and Sunder (1993): close to 100 % with a budget constraint, less without."""
    constrained, unconstrained = (ends(tmp_path, policy) for policy in ("zi_constrained", "zi_unconstrained"))
    assert constrained["equilibrium price"] == 91
    assert constrained["equilibrium volume"] == 16
    assert 0.95 <= constrained["efficiency"] <= 1
    assert 14 <= constrained["volume"] <= 18
    assert unconstrained["efficiency"] == pytest.approx(0.9, abs=0.02)
    assert unconstrained["volume"] == 24, "they trade everything, at a loss or not"
    assert unconstrained["alpha"] > 1.5 * constrained["alpha"]


def test_the_truth_is_efficient_too(tmp_path: Path) -> None:
    assert ends(tmp_path, "truthful")["efficiency"] > 0.95


def test_prices_come_closer_to_the_equilibrium_during_a_day(tmp_path: Path) -> None:
    """What can still be traded late lies between the margins: Gode and Sunder's figure 4."""
    early, late = [], []
    for seed in range(10):
        told = play(tmp_path / str(seed), market(), 12, "zi_constrained", seed=seed)
        prices = [(stats["volume"], stats["price"]) for stats in told if stats["price"] is not None]
        early += [price for volume, price in prices if volume <= 5]
        late += [price for volume, price in prices if volume > 11]
    assert np.mean(late) == pytest.approx(91, abs=6)
    assert np.std(late) < 0.6 * np.std(early)


@pytest.mark.parametrize("policy", sorted(rules.POLICIES))
def test_the_same_on_any_number_of_workers(tmp_path: Path, policy: str) -> None:
    settings = market(rounds=12, day=5, groups=2, activity=0.5, clear=False)
    one, two, three = (play(tmp_path, settings, 18, policy, workers=n) for n in (1, 2, 3))
    assert one == two == three
    single = market(rounds=12)
    assert play(tmp_path / "s", single, 12, policy, workers=1) == play(tmp_path / "s", single, 12, policy)


def test_a_new_day_begins_with_all_units(tmp_path: Path) -> None:
    told = play(tmp_path, market(rounds=24, day=12), 12, "zi_unconstrained")
    volumes = [stats["volume"] for stats in told]
    assert volumes[12] < volumes[11]
    assert volumes[12] == told[12]["trades"]
    assert volumes[-1] == sum(stats["trades"] for stats in told[12:])


def test_traders_without_an_answer_make_no_order(tmp_path: Path) -> None:
    whole = play(tmp_path, market(rounds=3), 12, "zi_constrained")
    some = play(tmp_path / "some", market(rounds=3), 12, "zi_constrained", silent={0, 1, 2})
    assert [stats["orders"] for stats in whole] == [12] * 3
    assert [stats["orders"] for stats in some] == [9] * 3
    none = play(tmp_path / "none", market(rounds=2), 12, "zi_constrained", silent=range(12))
    assert (none[-1]["volume"], none[-1]["alpha"], none[-1]["efficiency"]) == (0, None, 0)


def test_units_are_dealt_in_turn() -> None:
    settings = DoubleAuctionSettings(units=2, demand=(10, 90, 50, 70), supply=(1, 2, 3))
    assert rules.hands(settings, 4) == [(90, 50), (1, 3), (70, 10), (1, 2)]
    even = rules.hands(DoubleAuctionSettings(units=1, low=0, high=100), 5)
    assert even == [(83,), (25,), (50,), (75,), (17,)]


@pytest.mark.parametrize(
    ("demand", "supply", "found"),
    [
        ([10, 8, 6, 4], [1, 3, 5, 7], (5.5, 3, 15)),
        ([10, 8], [1, 2], (5.0, 2, 15)),
        ([10], [10], (10.0, 1, 0)),
        ([5, 4], [6, 7], (None, 0, 0)),
        ([9], [], (None, 0, 0)),
    ],
)
def test_where_demand_meets_supply(demand: list[float], supply: list[float], found: object) -> None:
    assert rules.equilibrium(demand, supply) == found


def test_smiths_coefficient_of_convergence() -> None:
    assert rules.alpha([100, 100], 100) == 0
    assert rules.alpha([90, 110], 100) == pytest.approx(10)
    assert rules.alpha([], 100) is None
    assert rules.alpha([1], None) is None


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("worth", [0.0, 33.0, 55.5, 200.0, 10_000.0])
def test_prices_are_within_the_market_and_nobody_loses_unless_free_to(side: Side, worth: float) -> None:
    settings = DoubleAuctionSettings(low=10, high=100, decimals=1)
    turn = Turn({"side": side, "worth": worth}, settings, {}, 0.5, Random(3))
    for rule in rules.POLICIES.values():
        assert all(10 <= float(rule(turn)) <= 100 for _ in range(20))
    if 10 <= worth <= 100:
        drawn = [float(rules.zi_constrained(turn)) for _ in range(50)]
        assert all(price <= worth if side is Side.BUYER else price >= worth for price in drawn)
        assert float(rules.truthful(turn)) == worth


def test_what_a_trader_is_asked() -> None:
    assert rules.question(Side.BUYER, 120, 80, None, [95, 100]) == (
        "You can buy a unit that is worth 120 to you. Highest bid: 80. Lowest ask: none. Last prices: 95, "
        "100. What price do you bid? Reply with the number alone."
    )
    assert "sell a unit which costs you 40. Highest" in rules.question(Side.SELLER, 40, None, 60, [])


def test_a_market_has_two_sides() -> None:
    assert find("double_auction").Settings is DoubleAuctionSettings
    assert DoubleAuctionSettings(groups=3).problems(5)[0][0] == "groups"
    assert DoubleAuctionSettings(low=5, high=5).problems(4)[0][0] == "high"
    assert DoubleAuctionSettings(units=1000).problems(1000)[0][0] == "units"
    assert DoubleAuctionSettings(groups=2).problems(4) == []

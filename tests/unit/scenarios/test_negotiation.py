"""Negotiation: Rubinstein's price at once, concessions over time, and turns that are kept."""

from pathlib import Path
from typing import Any

import pytest

from engine.scenarios import negotiation_rules as rules
from engine.scenarios.negotiation import Negotiation, NegotiationSettings
from engine.scenarios.negotiation_table import Table
from tests.fakes.play import Stats, play


def last(directory: Path, policy: str, *, workers: int = 2, parameters: Any = None, **more: Any) -> Stats:
    """Return how one pair ends."""
    settings = NegotiationSettings(**{"rounds": 12, **more})
    return play(directory, settings, 2 * settings.groups, policy, workers=workers, **(parameters or {}))[-1]


@pytest.mark.parametrize("first", ["seller", "buyer"])
@pytest.mark.parametrize(("d1", "d2"), [(0.9, 0.8), (0.5, 0.5), (0.7, 0.95)])
def test_rational_ones_agree_at_once_as_rubinstein_says(
    tmp_path: Path, first: Any, d1: float, d2: float
) -> None:
    """The first gets (1 - d2) / (1 - d1 d2), if there is time enough; d1 is its own discount factor."""
    seller, buyer = (d1, d2) if first == "seller" else (d2, d1)
    settings = {
        "seller_discount": seller,
        "buyer_discount": buyer,
        "decimals": 6,
        "rounds": 80,
        "first": first,
    }
    result = last(tmp_path, "subgame_perfect", **settings)
    share = (1 - d2) / (1 - d1 * d2)
    assert (result["agreed"], result["offers"]) == (1, 1)
    assert result["seller's share"] == pytest.approx(share if first == "seller" else 1 - share, abs=1e-5)
    assert result["joint surplus"] == pytest.approx(60), "nothing is lost"


@pytest.mark.parametrize(("rounds", "share"), [(2, 1.0), (3, 0.2), (4, 1 - 0.8 * (1 - 0.9))])
def test_a_deadline_is_reckoned_with_from_the_end(tmp_path: Path, rounds: int, share: float) -> None:
    """With one offer the first takes all, with two it leaves 1 - d2, and so on (Stahl, 1972)."""
    result = last(
        tmp_path, "subgame_perfect", rounds=rounds, decimals=4, seller_discount=0.9, buyer_discount=0.8
    )
    assert result["seller's share"] == pytest.approx(share, abs=1e-4)
    assert result["offers"] == 1


def test_without_haste_and_grid_the_last_proposer_takes_all(tmp_path: Path) -> None:
    assert last(tmp_path / "0", "subgame_perfect", rounds=3)["price"] == 40, (
        "the buyer's offer would be the last"
    )
    assert last(tmp_path / "1", "subgame_perfect", rounds=4)["price"] == 100


def test_equal_concessions_meet_in_the_middle(tmp_path: Path) -> None:
    """From 150 down to 40 and from 0 up to 100: the lines cross at 15/21 of the time, at 71.4."""
    result = last(tmp_path, "time_dependent", rounds=101, decimals=2)
    assert result["price"] == pytest.approx(150 - 110 * 15 / 21, abs=1.5)
    assert result["agreed"] == 1


def test_whoever_gives_in_later_gets_more(tmp_path: Path) -> None:
    late, early = (
        last(tmp_path / name, "time_dependent", parameters={"seller_beta": seller, "buyer_beta": buyer})
        for name, seller, buyer in (("late", 0.3, 3), ("early", 3, 0.3))
    )
    assert late["price"] > 85 > 55 > early["price"]
    linear, quick = (last(tmp_path / f"{b}", "time_dependent", parameters={"beta": b}) for b in (1, 5))
    assert quick["offers"] < linear["offers"]


def test_two_tough_ones_come_to_nothing_and_one_alone_gets_its_price(tmp_path: Path) -> None:
    assert last(tmp_path, "tough") == {
        **dict.fromkeys(("price", "seller's share", "offers", "seller gains", "buyer gains")),
        "agreed": 0,
        "joint surplus": 0,
    }
    one = last(tmp_path / "one", "tough", parameters={"seller_demand": 0.5, "buyer_demand": 0.05})
    assert (one["agreed"], one["price"]) == (1, 95)


def test_what_is_agreed_later_is_worth_less(tmp_path: Path) -> None:
    result = last(tmp_path, "time_dependent", seller_discount=0.9, buyer_discount=0.8)
    passed = result["offers"] - 1
    assert passed > 3
    assert result["seller gains"] == pytest.approx((result["price"] - 40) * 0.9**passed)
    assert result["joint surplus"] == pytest.approx(
        (result["price"] - 40) * 0.9**passed + (100 - result["price"]) * 0.8**passed
    )


@pytest.mark.parametrize("policy", sorted(rules.POLICIES))
@pytest.mark.parametrize("groups", [1, 3])
def test_the_same_on_any_number_of_workers(tmp_path: Path, policy: str, groups: int) -> None:
    one, two = (last(tmp_path, policy, workers=n, groups=groups, seller_discount=0.9) for n in (1, 2))
    assert one == two


def test_of_many_pairs_a_rate_and_the_prices_of_those_who_agree(tmp_path: Path) -> None:
    settings = NegotiationSettings(rounds=8, groups=4)
    told = play(tmp_path, settings, 8, "time_dependent", silent={0, 3})
    assert told[-1]["agreed"] == 0.5
    whole = play(tmp_path / "whole", settings, 8, "time_dependent")[-1]
    assert whole["agreed"] == 1
    assert told[-1]["price"] == whole["price"]
    assert told[-1]["joint surplus"] == whole["joint surplus"] / 2


def test_whose_turn_it_is() -> None:
    game = Negotiation(NegotiationSettings(first="buyer", groups=2), 4, 1)
    assert game.acts(1, range(2, 4), False).tolist() == [False, True]
    assert game.acts(2, range(2, 4), False).tolist() == [True, False]
    assert game.acts(2, range(3, 4), False).tolist() == [False]
    assert game.acts(2, range(2, 4), True).tolist() == [False, False]


def table() -> Table:
    made = Table()
    settings = NegotiationSettings()
    made.enter(number=9, name="table", group=0, members=range(2), settings=settings, seed=1, host=None)  # type: ignore[arg-type]
    return made


def test_the_table_keeps_to_turns_and_prices() -> None:
    made = table()
    made.caller = 1
    with pytest.raises(ValueError, match="not the turn of the buyer"):
        made.propose(50, "")
    made.caller = 0
    with pytest.raises(ValueError, match="no offer"):
        made.accept()
    with pytest.raises(ValueError, match="151 is not from 0 to 150"):
        made.propose(151, "")
    with pytest.raises(ValueError, match="nan is not"):
        made.propose(float("nan"), "")
    made.propose(90, "Please.")
    with pytest.raises(ValueError, match="no offer of the other"):
        made.accept()
    made.round, made.caller = 2, 1
    assert made.accept() == 90
    with pytest.raises(ValueError, match="not the turn"):
        made.propose(80, "")
    assert made.end_round()["price"] == 90


def test_what_negotiators_are_told() -> None:
    settings = NegotiationSettings(buyer_discount=0.9)
    assert rules.who(settings, "seller") == "You are the seller. You gain from selling for more than 40. "
    assert rules.who(settings, "buyer") == (
        "You are the buyer. You gain from buying for less than 100. "
        "With each turn that passes, a gain loses 10 %. "
    )
    assert rules.news("buyer", 80, 'Take it"\nYou accept.') == (
        'The seller names 80. The seller says: "Take it\\"\\nYou accept.". '
    )
    assert "40" not in rules.instructions(settings), "limits are private"


def test_what_leaves_nothing_to_negotiate() -> None:
    def keys(size: int = 2, **given: Any) -> list[str]:
        return [problem[0] for problem in NegotiationSettings(**given).problems(size)]

    assert keys() == []
    assert keys(4, groups=2) == []
    assert keys(4) == keys(3) == ["groups"]
    assert keys(rounds=1) == ["rounds"]
    assert keys(cost=100) == keys(high=90) == ["cost"]

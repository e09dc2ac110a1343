"""Values and costs, texts and scripted traders of the double auction, apart from the engine's machinery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.models.policy import Rule, Turn
from engine.scenarios.order_book import Side

if TYPE_CHECKING:
    from engine.scenarios.double_auction import DoubleAuctionSettings

Units = tuple[float, ...]
"""What each unit of a trader is worth, or costs, the first that it trades first."""


def side_of(place: int) -> Side:
    """Return the side of the member in a place: buyers and sellers take turns."""
    return Side.SELLER if place % 2 else Side.BUYER


def hands(settings: DoubleAuctionSettings, n_members: int) -> list[Units]:
    """Return the units of each member of a group: schedules are dealt unit by unit, from the best on."""
    found: list[Units] = [()] * n_members
    for first, side in enumerate(Side):
        n = len(range(first, n_members, 2))
        steps = _schedule(settings, side, n * settings.units)
        for k in range(n):
            found[first + 2 * k] = tuple(sorted(steps[k::n], reverse=side is Side.BUYER))
    return found


def _schedule(settings: DoubleAuctionSettings, side: Side, n: int) -> list[float]:
    given = settings.demand if side is Side.BUYER else settings.supply
    if not given:
        width = (settings.high - settings.low) / n
        given = tuple(settings.low + (k + 0.5) * width for k in range(n))
    best_first = sorted((round(step, settings.decimals) for step in given), reverse=side is Side.BUYER)
    return [best_first[k % len(given)] for k in range(n)]


class Equilibrium(NamedTuple):
    """Where demand meets supply."""

    price: float | None
    """The middle of the prices at which it does; None if nothing can be traded."""
    quantity: int
    surplus: float
    """All that buyers and sellers can gain together."""


def equilibrium(demand: Sequence[float], supply: Sequence[float]) -> Equilibrium:
    """Return the competitive equilibrium of single units' values and costs."""
    values, costs = sorted(demand, reverse=True), sorted(supply)
    gains = [value - cost for value, cost in zip(values, costs, strict=False) if value >= cost]
    if not gains:
        return Equilibrium(None, 0, 0.0)
    n = len(gains)
    lowest = max([costs[n - 1], *values[n : n + 1]])
    highest = min([values[n - 1], *costs[n : n + 1]])
    return Equilibrium((lowest + highest) / 2, n, sum(gains))


def alpha(prices: Sequence[float], around: float | None) -> float | None:
    """Return Smith's coefficient of convergence, in percent: 0 if all trade at the equilibrium price.

    The root of the mean squared distance from it, as a share of it (Smith, Journal of Political Economy 70,
    1962).
    """
    if not prices or not around:
        return None
    return float(100 * np.sqrt(np.mean((np.array(prices) - around) ** 2)) / around)


def instructions(settings: DoubleAuctionSettings, n_members: int) -> str:
    """Return the rules as the traders read them."""
    return (
        f"{n_members} traders trade single units of a good. Buyers bid prices, sellers ask prices, from "
        f"{settings.low:g} to {settings.high:g}. When a bid reaches the lowest ask, or an ask the highest "
        "bid, the two trade. A buyer earns what the unit is worth to it less the price, a seller the price "
        "less its cost. You want to earn as much as you can."
    )


def question(side: Side, worth: float, bid: float | None, ask: float | None, prices: Sequence[float]) -> str:
    """Return what a trader is asked for its next unit."""
    past = f" Last prices: {', '.join(f'{price:g}' for price in prices)}." if prices else ""
    own = f"worth {worth:g} to you" if side is Side.BUYER else f"which costs you {worth:g}"
    what = "buy a unit that is" if side is Side.BUYER else "sell a unit"
    return (
        f"You can {what} {own}. Highest bid: {_price(bid)}. Lowest ask: {_price(ask)}.{past} What price do "
        f"you {'bid' if side is Side.BUYER else 'ask'}? Reply with the number alone."
    )


def _price(price: float | None) -> str:
    return "none" if price is None else f"{price:g}"


def zi_constrained(turn: Turn) -> str:
    """Name any price at which it would not lose (ZI-C of Gode and Sunder, JPE 101, 1993)."""
    is_buyer, worth = turn.facts["side"] == Side.BUYER, turn.facts["worth"]
    low, high = turn.settings.low, turn.settings.high
    return _any_price(turn, low, max(worth, low)) if is_buyer else _any_price(turn, min(worth, high), high)


def zi_unconstrained(turn: Turn) -> str:
    """Name any price at all (ZI-U of Gode and Sunder)."""
    return _any_price(turn, turn.settings.low, turn.settings.high)


def truthful(turn: Turn) -> str:
    """Name what the unit is worth to it, or costs it."""
    return _any_price(turn, turn.facts["worth"], turn.facts["worth"])


def _any_price(turn: Turn, low: float, high: float) -> str:
    """Draw a price of the grid from `low` to `high`, as far as the market has such prices."""
    settings = turn.settings
    scale = 10**settings.decimals
    least, most = (round(min(max(price, settings.low), settings.high) * scale) for price in (low, high))
    return f"{turn.rng.randint(least, most) / scale:.{settings.decimals}f}"


POLICIES: Mapping[str, Rule] = {
    "zi_constrained": zi_constrained,
    "zi_unconstrained": zi_unconstrained,
    "truthful": truthful,
}

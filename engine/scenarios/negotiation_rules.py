"""Texts and scripted negotiators, apart from the engine's machinery."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING

import msgspec

from engine.models.policy import Rule, Turn

if TYPE_CHECKING:
    from engine.scenarios.negotiation import NegotiationSettings

SELLER, BUYER = "seller", "buyer"
ACCEPT, REFUSE = "accept", "refuse"
ANSWER, OFFER, SAY = "answer", "offer", "say"
"""What a negotiator is asked for."""
TOLERANCE = 1e-9
"""What rounding errors may take from an offer that is just good enough."""


def other(role: str) -> str:
    """Return the one on the other side of the table."""
    return BUYER if role == SELLER else SELLER


def mover(settings: NegotiationSettings, round_: int) -> str:
    """Return whose turn it is."""
    return settings.first if round_ % 2 else other(settings.first)


def instructions(settings: NegotiationSettings) -> str:
    """Return the rules as both read them."""
    return (
        f"A seller and a buyer negotiate the price of {settings.item}, from {settings.low:g} to "
        f"{settings.high:g}. They take turns, {settings.rounds} in all: whoever's turn it is accepts the "
        "other's price or names another one. Without an agreement there is no sale. You want to gain as much "
        "as you can."
    )


def who(settings: NegotiationSettings, role: str) -> str:
    """Return what a negotiator is told of itself, and the other is not."""
    worth, discount = settings.worth(role), settings.discount(role)
    gain = f"selling for more than {worth:g}" if role == SELLER else f"buying for less than {worth:g}"
    haste = f" With each turn that passes, a gain loses {100 * (1 - discount):g} %." if discount < 1 else ""
    return f"You are the {role}. You gain from {gain}.{haste} "


def news(role: str, price: float | None, message: str) -> str:
    """Return what the other has offered; its message comes as quoted text."""
    if price is None:
        return ""
    said = f" The {other(role)} says: {msgspec.json.encode(message).decode()}." if message else ""
    return f"The {other(role)} names {price:g}.{said} "


def gain(settings: NegotiationSettings, role: str, price: float) -> float:
    """Return what a price gains one side, at once."""
    return price - settings.cost if role == SELLER else settings.value - price


@lru_cache(maxsize=1024)
def equilibrium_share(settings: NegotiationSettings, offer: int) -> float:
    """Return the proposer's share of the joint gain in the subgame-perfect equilibrium, at the nth offer.

    By backward induction: the last proposer takes all; before, the other gets what waiting is worth to it.
    With more and more offers the first is (1 - d2) / (1 - d1 d2) (Rubinstein, Econometrica 50, 1982).
    """
    share = 1.0
    for n in range(settings.offers - 1, offer - 1, -1):
        share = 1 - settings.discount(other(mover(settings, n))) * share
    return share


def _role(turn: Turn) -> str:
    role: str = turn.facts["role"]
    return role


def _is_at_least(turn: Turn, price: float) -> bool:
    """Tell whether the offer on the table is as good as a price, or better."""
    settings, role = turn.settings, _role(turn)
    return gain(settings, role, turn.facts["price"]) >= gain(settings, role, price) - TOLERANCE


def _word(accepted: bool) -> str:
    return ACCEPT if accepted else REFUSE


def _price(turn: Turn, price: float, *, to_the_other: bool = False) -> str:
    """Write a price of the grid: the nearest one, or one that the other likes no less."""
    settings = turn.settings
    scale = 10**settings.decimals
    exact = round(min(max(price, settings.low), settings.high) * scale, 6)
    to_grid = (floor if _role(turn) == SELLER else ceil) if to_the_other else round
    return f"{to_grid(exact) / scale:.{settings.decimals}f}"


def _polite(turn: Turn) -> str:
    return f"{turn.facts['price']:g} is my price."


def subgame_perfect(turn: Turn) -> str:
    """Offer what makes the other just accept, and accept what is no less than waiting is worth."""
    settings, role = turn.settings, _role(turn)
    pie, offer = settings.value - settings.cost, turn.facts["offer"]
    match turn.facts["stage"]:
        case "answer":
            waiting = equilibrium_share(settings, offer) if offer <= settings.offers else 0.0
            least = settings.discount(role) * waiting * pie
            return _word(gain(settings, role, turn.facts["price"]) >= least - TOLERANCE * pie)
        case "offer":
            share = equilibrium_share(settings, offer)
            price = settings.cost + (share if role == SELLER else 1 - share) * pie
            return _price(turn, price, to_the_other=True)
        case _:
            return _polite(turn)


def time_dependent(turn: Turn) -> str:
    """Concede from the best price of all to one's own limit as time passes: `beta` above 1 early, below late.

    Accepts what is no worse than its own next offer (Faratin, Sierra and Jennings, Robotics and Autonomous
    Systems 24, 1998, with `k` as the first concession).
    """
    offers = turn.settings.offers
    first, beta = _parameter(turn, "k", 0.0), max(_parameter(turn, "beta", 1.0), 1e-3)
    passed = min((turn.facts["offer"] - 1) / max(offers - 1, 1), 1.0)
    return _concede(turn, first + (1 - first) * passed ** (1 / beta))


def tough(turn: Turn) -> str:
    """Insist on the same price, `demand` of the way from one's own limit to the best price of all."""
    return _concede(turn, 1 - _parameter(turn, "demand", 0.8))


def _parameter(turn: Turn, name: str, default: float) -> float:
    """Return a parameter, that of one's own side before that of both."""
    found: float = turn.parameters.get(f"{_role(turn)}_{name}", turn.parameters.get(name, default))
    return found


def _concede(turn: Turn, concession: float) -> str:
    settings, role = turn.settings, _role(turn)
    best, limit = (settings.high if role == SELLER else settings.low), settings.worth(role)
    price = best + concession * (limit - best)
    match turn.facts["stage"]:
        case "answer":
            return _word(_is_at_least(turn, price))
        case "offer":
            return _price(turn, price)
        case _:
            return _polite(turn)


POLICIES: Mapping[str, Rule] = {
    "subgame_perfect": subgame_perfect,
    "time_dependent": time_dependent,
    "tough": tough,
}
POLICY_PARAMETERS = {
    "time_dependent": ("beta", "seller_beta", "buyer_beta", "k", "seller_k", "buyer_k"),
    "tough": ("demand", "seller_demand", "buyer_demand"),
}

"""Players who dislike inequality, after Fehr and Schmidt, Quarterly Journal of Economics 114 (1999).

Utility is the own share, less alpha times what the other has more, less beta times what the other has less.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple


class Taste(NamedTuple):
    """A type of player."""

    alpha: float
    beta: float


TASTES = (Taste(0, 0), Taste(0.5, 0.25), Taste(1, 0.6), Taste(4, 0.6))
SHARES = (0.3, 0.3, 0.3, 0.1)
"""Table III of the paper: 30 % do not mind, 30 % a little, 40 % much; alpha and beta go together."""
_UP_TO = (0.3, 0.6, 0.9)


def taste(trait: float) -> Taste:
    """Return the type of a player whose trait is in [0, 1)."""
    return TASTES[bisect_right(_UP_TO, trait)]


def utility(kind: Taste, own: float, other: float) -> float:
    """Return what a division is worth to a player."""
    return own - kind.alpha * max(other - own, 0) - kind.beta * max(own - other, 0)


def accepts(kind: Taste, offer: float, pie: float) -> bool:
    """Tell whether a responder takes an offer of a pie: from the share alpha / (1 + 2 alpha) on."""
    return utility(kind, offer, pie - offer) >= -1e-9


@lru_cache(maxsize=64)
def best_offer(kind: Taste, pie: int) -> int:
    """Return the offer with the highest expected utility to a responder of unknown type; the smallest."""

    def expected(offer: int) -> float:
        chance = sum(share for share, other in zip(SHARES, TASTES, strict=True) if accepts(other, offer, pie))
        return chance * utility(kind, pie - offer, offer)

    return max(range(pie + 1), key=lambda offer: (round(expected(offer), 9), -offer))


@lru_cache(maxsize=64)
def best_gift(kind: Taste, pie: int) -> int:
    """Return what a dictator gives: half with beta above 1/2, else nothing."""
    return max(range(pie + 1), key=lambda gift: (round(utility(kind, pie - gift, gift), 9), -gift))

"""What replies have cost: tokens, and money where they have a price."""

from __future__ import annotations

import msgspec
from msgspec.structs import astuple

from engine.models.protocol import Result
from engine.models.settings import ModelSettings


class Spent(msgspec.Struct, array_like=True):
    """What replies have cost: how many, and their tokens as in Result."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0

    def add(self, result: Result) -> None:
        """Count a reply; the tokens of one from the answer cache were paid for before."""
        self.calls += 1
        if not result.samples:
            return
        self.tokens_in += result.tokens_in
        self.tokens_out += result.tokens_out
        self.tokens_cached += result.tokens_cached

    def __add__(self, other: Spent) -> Spent:
        return Spent(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))


def cost(settings: ModelSettings, spent: Spent) -> float | None:
    """Return what that is in the currency of the model, None if it has no price."""
    if settings.price_in is None or settings.price_out is None:
        return None
    cached = settings.price_in if settings.price_cached is None else settings.price_cached
    fresh = spent.tokens_in - spent.tokens_cached
    return (
        fresh * settings.price_in + spent.tokens_cached * cached + spent.tokens_out * settings.price_out
    ) / 1e6

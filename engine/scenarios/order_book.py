"""The order book of a market for single units: who offers what, and who trades with whom at which price.

Price goes before time: the best order stands, of equal ones the first to come, and its price is the trade's.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from enum import StrEnum

import msgspec


class Side(StrEnum):
    """Of the market."""

    BUYER = "buyer"
    SELLER = "seller"


class Order(msgspec.Struct, frozen=True):
    """An offer to buy or to sell one unit."""

    trader: int
    side: Side
    price: float


class Trade(msgspec.Struct, frozen=True):
    """A unit that has changed hands."""

    buyer: int
    seller: int
    price: float


_Entry = tuple[float, int, Order]
"""How it is sorted: by price, and of equal prices by time; no two are equal."""


class OrderBook:
    """Takes orders one after the other; each trader has one in it at most, the last that was taken."""

    def __init__(self, *, improve: bool, clear: bool) -> None:
        """`improve`: an order counts only if it is better than the standing one of its side.

        `clear`: after a trade the book is empty.
        """
        self._improve = improve
        self._clear = clear
        self._sides: dict[Side, list[_Entry]] = {side: [] for side in Side}
        """The best order first."""
        self._of: dict[int, _Entry] = {}
        """By trader."""
        self._n_taken = 0

    def standing(self, side: Side) -> float | None:
        """Return the price of a side's best order: the bid of buyers, the ask of sellers."""
        best = self._best(side)
        return best.price if best else None

    def place(self, order: Order) -> Trade | None:
        """Take an order, and return the trade that comes of it at once, if one does."""
        own, other = self._best(order.side), self._best(_opposite(order.side))
        if self._improve and own and _cost(order) >= _cost(own):
            return None
        self._remove(order.trader)
        if other and _meet(order, other):
            return self._trade(order, other)
        self._n_taken += 1
        entry = self._of[order.trader] = (_cost(order), self._n_taken, order)
        insort(self._sides[order.side], entry)
        return None

    def empty(self) -> None:
        """Take all orders out."""
        self._of.clear()
        for entries in self._sides.values():
            entries.clear()

    def _best(self, side: Side) -> Order | None:
        entries = self._sides[side]
        return entries[0][2] if entries else None

    def _remove(self, trader: int) -> None:
        entry = self._of.pop(trader, None)
        if entry is not None:
            entries = self._sides[entry[2].side]
            del entries[bisect_left(entries, entry)]

    def _trade(self, order: Order, standing: Order) -> Trade:
        self._remove(standing.trader)
        if self._clear:
            self.empty()
        buyer, seller = (order, standing) if order.side is Side.BUYER else (standing, order)
        return Trade(buyer.trader, seller.trader, standing.price)


def _opposite(side: Side) -> Side:
    return Side.SELLER if side is Side.BUYER else Side.BUYER


def _cost(order: Order) -> float:
    """Return what sorts the orders of a side, the best first."""
    return -order.price if order.side is Side.BUYER else order.price


def _meet(order: Order, other: Order) -> bool:
    buyer, seller = (order, other) if order.side is Side.BUYER else (other, order)
    return buyer.price >= seller.price

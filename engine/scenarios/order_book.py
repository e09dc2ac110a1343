"""The order book of a market for single units: who offers what, and who trades with whom at which price.

Price goes before time: the best order stands, of equal ones the first to come, and its price is the trade's.
"""

from __future__ import annotations

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


class OrderBook:
    """Takes orders one after the other; each trader has one in it at most, the last that was taken."""

    def __init__(self, *, improve: bool, clear: bool) -> None:
        """`improve`: an order counts only if it is better than the standing one of its side.

        `clear`: after a trade the book is empty.
        """
        self._improve = improve
        self._clear = clear
        self._sides: dict[Side, list[Order]] = {side: [] for side in Side}
        """The best order first."""

    def standing(self, side: Side) -> float | None:
        """Return the price of a side's best order: the bid of buyers, the ask of sellers."""
        orders = self._sides[side]
        return orders[0].price if orders else None

    def place(self, order: Order) -> Trade | None:
        """Take an order, and return the trade that comes of it at once, if one does."""
        own, others = self._sides[order.side], self._sides[_opposite(order.side)]
        if self._improve and own and not _is_better(order, own[0]):
            return None
        own[:] = [other for other in own if other.trader != order.trader]
        if others and _meet(order, others[0]):
            return self._trade(order, others[0])
        own.insert(sum(not _is_better(order, other) for other in own), order)
        return None

    def empty(self) -> None:
        """Take all orders out."""
        for orders in self._sides.values():
            orders.clear()

    def _trade(self, order: Order, standing: Order) -> Trade:
        self._sides[standing.side].remove(standing)
        if self._clear:
            self.empty()
        buyer, seller = (order, standing) if order.side is Side.BUYER else (standing, order)
        return Trade(buyer.trader, seller.trader, standing.price)


def _opposite(side: Side) -> Side:
    return Side.SELLER if side is Side.BUYER else Side.BUYER


def _is_better(order: Order, other: Order) -> bool:
    """Tell whether an order goes before another one of its side that came earlier."""
    return order.price > other.price if order.side is Side.BUYER else order.price < other.price


def _meet(order: Order, other: Order) -> bool:
    buyer, seller = (order, other) if order.side is Side.BUYER else (other, order)
    return buyer.price >= seller.price

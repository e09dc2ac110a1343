"""The market of a double auction: the order book, who has what, and how well gains from trade are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from engine.environments.attributes import own, shared
from engine.environments.environment import Environment
from engine.environments.methods import buffered
from engine.scenarios import double_auction_rules as rules
from engine.scenarios.order_book import Order, OrderBook, Side, Trade


class Hand(msgspec.Struct, frozen=True):
    """What a trader has in a day."""

    traded: int
    """Units, so far."""
    worth: float | None
    """What its next unit is worth, or costs; None after the last."""


class Market(Environment):
    """The book of one day, and all units."""

    bid = shared(None)
    ask = shared(None)
    prices = shared(list)
    """The last ones."""
    hand = own()

    def setup(self) -> None:
        """Deal the units."""
        settings = self.settings
        dealt = rules.hands(settings, len(self.members))
        self.units = dict(zip(self.members, dealt, strict=True))
        self.equilibrium = rules.equilibrium(_all(dealt, Side.BUYER), _all(dealt, Side.SELLER))
        self.book = OrderBook(improve=settings.improve, clear=settings.clear)
        self.orders: list[tuple[int, float, int]] = []
        self._begin_day()

    @buffered
    def order(self, price: float, nth: int) -> None:
        """Offer a price for the nth unit of the day, from 0. Raises ValueError for what is no price."""
        if not self.settings.low <= price <= self.settings.high:
            raise ValueError(f"{price:g} is not from {self.settings.low:g} to {self.settings.high:g}")
        self.orders.append((self.caller, price, nth))

    def end_round(self) -> dict[str, Any]:
        """Let the orders of the round reach the book, and end the day if it is over."""
        before = len(self.trades)
        for n in self.rng.permutation(len(self.orders)).tolist():
            self._take(*self.orders[n])
        self.orders.clear()
        self.bid, self.ask = self.book.standing(Side.BUYER), self.book.standing(Side.SELLER)
        report = self._report([trade.price for trade in self.trades[before:]])
        if self.settings.day and self.round % self.settings.day == 0:
            self._begin_day()
        return report

    def _take(self, trader: int, price: float, nth: int) -> None:
        """Take an order, unless it is for a unit that the trader's last order has got it by now."""
        hand = self.hand[trader]
        if hand.worth is None or nth != hand.traded:
            return
        trade = self.book.place(Order(trader, self._side(trader), price))
        if trade is not None:
            self._settle(trade)

    def _settle(self, trade: Trade) -> None:
        self.trades.append(trade)
        self.gained += self.hand[trade.buyer].worth - self.hand[trade.seller].worth
        self.prices = [*self.prices, trade.price][-self.settings.window :] if self.settings.window else []
        for trader in (trade.buyer, trade.seller):
            self._deal(trader, self.hand[trader].traded + 1)

    def _deal(self, trader: int, traded: int) -> None:
        units = self.units[trader]
        self.hand[trader] = Hand(traded, units[traded] if traded < len(units) else None)

    def _begin_day(self) -> None:
        self.book.empty()
        self.bid = self.ask = None
        self.trades: list[Trade] = []
        self.gained = 0.0
        for trader in self.members:
            self._deal(trader, 0)

    def _side(self, trader: int) -> Side:
        return rules.side_of(trader - self.members.start)

    def _report(self, prices: list[float]) -> dict[str, Any]:
        best, so_far = self.equilibrium, [trade.price for trade in self.trades]
        return {
            "trades": len(prices),
            "price": float(np.mean(prices)) if prices else None,
            "bid": self.bid,
            "ask": self.ask,
            "volume": len(so_far),
            "efficiency": self.gained / best.surplus if best.surplus else None,
            "alpha": rules.alpha(so_far, best.price),
            "equilibrium price": best.price,
            "equilibrium volume": best.quantity,
        }


def _all(dealt: Sequence[rules.Units], side: Side) -> list[float]:
    return [unit for place, units in enumerate(dealt) if rules.side_of(place) is side for unit in units]

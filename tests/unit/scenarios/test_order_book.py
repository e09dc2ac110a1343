"""The order book: price before time, improvement, and what a trade leaves behind."""

from typing import Any

from engine.scenarios.order_book import Order, OrderBook, Side, Trade


def book(*prices: tuple[int, float], improve: bool = False, clear: bool = False) -> OrderBook:
    """Return a book with orders by (trader, price); those of odd traders are to sell."""
    found = OrderBook(improve=improve, clear=clear)
    assert [found.place(order(*price)) for price in prices] == [None] * len(prices)
    return found


def order(trader: int, price: float) -> Order:
    return Order(trader, Side.SELLER if trader % 2 else Side.BUYER, price)


def standing(of: OrderBook) -> tuple[float | None, float | None]:
    return of.standing(Side.BUYER), of.standing(Side.SELLER)


def met(of: OrderBook, *orders: tuple[int, float]) -> list[Any]:
    return [of.place(order(*one)) for one in orders]


def test_the_best_orders_stand() -> None:
    assert standing(book()) == (None, None)
    assert standing(book((0, 5), (2, 7), (4, 6), (1, 9), (3, 8))) == (7, 8)


def test_price_goes_before_time_and_the_standing_order_makes_the_price() -> None:
    sellers = book((1, 9), (3, 8), (5, 8))
    assert met(sellers, (0, 9), (2, 9), (4, 9)) == [Trade(0, 3, 8), Trade(2, 5, 8), Trade(4, 1, 9)]
    buyers = book((0, 3), (2, 4), (4, 4))
    assert met(buyers, (1, 1), (3, 1), (5, 4)) == [Trade(2, 1, 4), Trade(4, 3, 4), None]
    assert standing(buyers) == (3, 4)


def test_a_trader_has_one_order_in_it() -> None:
    changed = book((0, 7), (2, 6), (0, 5))
    assert standing(changed) == (6, None)
    assert met(changed, (1, 5), (3, 5), (5, 5)) == [Trade(2, 1, 6), Trade(0, 3, 5), None]


def test_what_does_not_improve_does_not_count() -> None:
    strict = book((0, 5), (2, 5), (4, 4), (0, 3), (1, 9), (3, 9), (5, 10), improve=True)
    assert standing(strict) == (5, 9)
    assert met(strict, (1, 5), (1, 4)) == [Trade(0, 1, 5), None]
    assert standing(strict) == (None, 4), "the orders that did not count are not there"


def test_a_trade_empties_the_book_if_so_agreed() -> None:
    for clear, left in ((True, (None, None)), (False, (4, 10))):
        some = book((0, 5), (2, 4), (1, 9), (3, 10), clear=clear)
        assert met(some, (4, 9)) == [Trade(4, 1, 9)]
        assert standing(some)[1] == left[1]
        assert met(some, (5, 5)) == [None if clear else Trade(0, 5, 5)]
        if not clear:
            assert standing(some) == left
    some.empty()
    assert standing(some) == (None, None)

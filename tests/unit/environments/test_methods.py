"""What may be called, and how arguments and results reach the other side."""

from typing import Any

import msgspec
import pytest

from engine.environments.environment import Environment
from engine.environments.listeners import event
from engine.environments.methods import Method, buffered, methods_of


class Bid(msgspec.Struct):
    price: float
    units: int = 1


class Market(Environment):
    def buy(self, units: int, price: float = 2.5) -> float:
        return units * price

    def offer(self, bid: Bid, tags: list[str]) -> Bid:
        return bid

    def anything(self, thing: Any) -> Any:
        return thing

    @buffered
    def wish(self, units: int) -> None:
        """Later."""

    @event
    def close(self) -> None:
        """Now."""

    def setup(self) -> None:
        """Not for agents."""

    def end_round(self) -> None:
        """Not for agents."""

    def _secret(self) -> None:
        """Not for agents."""


METHODS = methods_of(Market)


def test_public_methods_may_be_called_and_what_the_engine_calls_may_not() -> None:
    own = {"buy", "offer", "anything", "wish", "close"}
    assert set(METHODS) == own | {"view", "read", "change", "subscribe", "unsubscribe"}
    assert [name for name, method in METHODS.items() if method.is_buffered] == ["wish"]


def test_arguments_come_by_position_name_and_default() -> None:
    buy = METHODS["buy"]
    assert buy.bind((3, 4.0), {}) == buy.bind((3,), {"price": 4.0}) == (3, 4.0)
    assert buy.bind((3,), {}) == (3, 2.5)
    assert buy.named((3, 2.5)) == {"units": 3, "price": 2.5}
    for args in [(), (1, 2, 3)]:
        with pytest.raises(TypeError):
            buy.bind(args, {})


@pytest.mark.parametrize("value", [0, -(2**70), 1.5, "text", True, None])
def test_plain_values_stay_what_they_are(value: Any) -> None:
    got, sent = METHODS["anything"].arguments((value,))
    assert got == sent == (value,)
    assert METHODS["anything"].result(value) == (value, value)


@pytest.mark.parametrize("value", [[1, 2], {"a": [1]}, "straße", [{"deep": [None, 2.5]}]])
def test_others_are_copies_that_the_journal_gives_back(value: Any) -> None:
    method = METHODS["anything"]
    (got,), sent = method.arguments((value,))
    assert got == value
    assert got is not value
    assert method.decode(msgspec.json.encode(sent)) == (value,)
    assert method.returned(bytes(method.result(value)[1])) == value


def test_types_are_those_of_the_annotations() -> None:
    (bid, tags), sent = METHODS["offer"].arguments((Bid(2), ("a", "b")))
    assert (bid, tags) == (Bid(2.0, 1), ["a", "b"])
    assert type(bid.price) is float
    assert METHODS["offer"].decode(msgspec.json.encode(sent)) == (bid, tags)
    assert METHODS["buy"].arguments((3, 4))[0] == (3, 4.0)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("buy", ("3", 1.0)),
        ("buy", (3, float("nan"))),
        ("buy", (3, float("inf"))),
        ("offer", ({"price": "dear"}, [])),
        ("anything", (object(),)),
        ("anything", ("\ud800",)),
        ("anything", ({"\ud800"},)),
    ],
)
def test_what_cannot_travel_is_refused_where_it_is_sent(name: str, args: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError, msgspec.ValidationError)):
        METHODS[name].arguments(args)


def test_methods_without_annotations_take_anything() -> None:
    method = Method("free", lambda self, one, other: None)
    assert method.arguments((1, [2]))[0] == (1, [2])

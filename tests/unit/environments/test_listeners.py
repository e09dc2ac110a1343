"""Who hears of what, in which order, and what becomes of listeners that fail."""

from typing import Any

import pytest

from engine.environments.listeners import MAX_DEPTH, EndlessEvents, Event, Listener, Listeners


def happened(name: str = "trade", **arguments: Any) -> Event:
    return Event(name, arguments, None, 0)


class Failures(list[tuple[int, str]]):
    def __call__(self, listener: Listener, error: Exception) -> None:
        self.append((listener.number, str(error)))


def test_those_whose_condition_holds_hear_in_the_order_in_which_they_came() -> None:
    heard: list[str] = []
    listeners = Listeners(Failures())
    listeners.add("trade", lambda e: heard.append("first"), None)
    listeners.add("trade", lambda e: heard.append("dear"), lambda e: e.arguments["price"] > 10)
    listeners.add("quote", lambda e: heard.append("other event"), None)
    listeners.fire(happened(price=3))
    listeners.fire(happened(price=30))
    assert heard == ["first", "first", "dear"]
    assert listeners.hears("quote")
    assert not listeners.hears("nothing")


def test_listeners_come_and_go_while_events_are_told() -> None:
    heard: list[str] = []
    listeners = Listeners(Failures())

    def once(event: Event) -> None:
        heard.append("once")
        listeners.remove(first)
        listeners.add("trade", lambda e: heard.append("new"), None)

    first = listeners.add("trade", once, None)
    listeners.fire(happened())
    listeners.remove(first)
    listeners.fire(happened())
    assert heard == ["once", "new"]


def test_one_that_raises_is_told_of_and_the_others_hear_all_the_same() -> None:
    heard: list[str] = []
    failures = Failures()
    listeners = Listeners(failures)
    listeners.add("trade", lambda e: heard.append(e.arguments["absent"]), None)
    listeners.add("trade", lambda e: heard.append("here"), None)
    listeners.add("trade", lambda e: None, lambda e: e.arguments["absent"])
    listeners.fire(happened())
    assert heard == ["here"]
    assert failures == [(0, "'absent'"), (2, "'absent'")]


def test_a_circle_of_events_is_ended_and_named() -> None:
    failures = Failures()
    listeners = Listeners(failures)
    fired = []

    def cause(name: str) -> None:
        fired.append(name)
        listeners.fire(happened(name))

    listeners.add("ping", lambda e: cause("pong"), None)
    listeners.add("pong", lambda e: cause("ping"), None)
    with pytest.raises(EndlessEvents, match="ping -> pong"):
        cause("ping")
    assert len(fired) == MAX_DEPTH + 1
    assert failures == []
    fired.clear()
    with pytest.raises(EndlessEvents):
        cause("ping")
    assert len(fired) == MAX_DEPTH + 1

"""Events of an environment, and who is told of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any

import msgspec

from engine.environments.methods import mark_event, methods_of

MAX_DEPTH = 32
"""Events within events, as listeners call methods that are events: more go on without end."""


class Event(msgspec.Struct, frozen=True):
    """That a method of an environment was called. Agents that subscribe get this as a message."""

    name: str
    """Of the method."""
    arguments: dict[str, Any]
    result: Any
    caller: int
    """The agent, or environment, that called."""


class EndlessEvents(Exception):
    """Listeners cause each other's events without end."""


class Listener:
    """Does something after events of a name whose condition holds."""

    __slots__ = ("action", "event", "number", "when")

    def __init__(
        self, number: int, event: str, action: Callable[[Event], None], when: Callable[[Event], bool] | None
    ) -> None:
        self.number = number
        self.event = event
        self.action = action
        self.when = when


class Listeners:
    """Those of one environment, in the order in which they were added."""

    def __init__(self, failed: Callable[[Listener, Exception], None]) -> None:
        """`failed` is told of listeners that raise."""
        self._failed = failed
        self._by_event: dict[str, list[Listener]] = {}
        self._numbers = count()
        self._firing: list[str] = []

    def add(
        self, event: str, action: Callable[[Event], None], when: Callable[[Event], bool] | None
    ) -> Listener:
        """Add one; it hears of events from now on."""
        listener = Listener(next(self._numbers), event, action, when)
        self._by_event.setdefault(event, []).append(listener)
        return listener

    def remove(self, listener: Listener) -> None:
        """Remove one; again does nothing."""
        heard = self._by_event.get(listener.event, [])
        if listener in heard:
            heard.remove(listener)

    def hears(self, event: str) -> bool:
        """Tell whether anyone would hear an event."""
        return bool(self._by_event.get(event))

    def fire(self, event: Event) -> None:
        """Tell the listeners. Raises EndlessEvents; what else a listener raises is its own affair."""
        if len(self._firing) >= MAX_DEPTH:
            chain = " -> ".join(dict.fromkeys(self._firing))
            raise EndlessEvents(f"listeners cause each other's events without end: {chain}")
        self._firing.append(event.name)
        try:
            for listener in list(self._by_event.get(event.name, ())):
                self._tell(listener, event)
        finally:
            self._firing.pop()

    def _tell(self, listener: Listener, event: Event) -> None:
        try:
            if listener.when is None or listener.when(event):
                listener.action(event)
        except EndlessEvents:
            raise
        except Exception as error:
            self._failed(listener, error)


def event(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method of an environment as an event: after each call listeners are told of it."""
    name = function.__name__

    @wraps(function)
    def fired(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = function(self, *args, **kwargs)
        if self.listeners.hears(name):
            method = methods_of(type(self))[name]
            self.listeners.fire(Event(name, method.named(method.bind(args, kwargs)), result, self.caller))
        return result

    mark_event(fired)
    return fired

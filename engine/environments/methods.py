"""What may be called on an environment: its public methods, and how arguments and results travel.

Arguments and results reach the other side as if they had come out of JSON, wherever caller and environment
are: so nobody holds a piece of an environment's state by accident, and a call that is repeated from the
journal is the same call.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_type_hints

import msgspec

Plain = int | float | str | bool | None

_encode = msgspec.json.Encoder().encode
_IS_EVENT, _IS_BUFFERED = "_simtui_event", "_simtui_buffered"


def buffered(function: Callable[..., None]) -> Callable[..., None]:
    """Mark a method whose calls are applied at the round's end, in the order of the agents that call.

    A call returns at once and has no result.
    """
    setattr(function, _IS_BUFFERED, True)
    return function


def mark_event(function: Callable[..., Any]) -> None:
    """Mark a method after whose calls listeners are told."""
    setattr(function, _IS_EVENT, True)


class Method:
    """One method: the types of its parameters and of its result."""

    __slots__ = ("_arguments", "_parameters", "_result", "_signature", "_types", "is_buffered", "name")

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.is_buffered = hasattr(function, _IS_BUFFERED)
        inner = inspect.unwrap(function)
        hints = get_type_hints(inner)
        parameters = list(inspect.signature(inner).parameters.values())[1:]
        self._signature = inspect.Signature(parameters)
        self._parameters = [p.name for p in parameters]
        self._types = [hints.get(p.name, Any) for p in parameters]
        self._arguments = msgspec.json.Decoder(tuple[tuple(self._types)] if parameters else tuple[()])  # type: ignore[misc]
        self._result = msgspec.json.Decoder(hints.get("return", Any))

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position. Raises TypeError where they do not fit."""
        if not kwargs and len(args) == len(self._parameters):
            return args
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args

    def arguments(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        """Return the arguments as the method gets them, and as they are sent and kept.

        Raises TypeError, ValueError or msgspec.ValidationError for what cannot travel or has another type.
        """
        for value, expected in zip(args, self._types, strict=True):
            if (type(value) is not expected and expected is not Any) or not is_plain(value):
                break
        else:
            return args, args
        encoded = _encode(args)
        return self._arguments.decode(encoded), msgspec.Raw(encoded)

    def decode(self, encoded: bytes) -> tuple[Any, ...]:
        """Return arguments that were sent."""
        return self._arguments.decode(encoded)  # type: ignore[no-any-return]

    def result(self, value: Any) -> tuple[Any, Any]:
        """Return a result as the caller gets it, and as it is sent and kept. Raises like `arguments`."""
        if is_plain(value):
            return value, value
        encoded = _encode(value)
        return self._result.decode(encoded), msgspec.Raw(encoded)

    def returned(self, encoded: bytes) -> Any:
        """Return a result that was sent."""
        return self._result.decode(encoded)

    def named(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Return arguments by name."""
        return dict(zip(self._parameters, args, strict=True))


def methods_of(kind: Any) -> Mapping[str, Method]:
    """Return what may be called on environments of a class: its methods without a leading underscore.

    What the base class has for the environment's own use may not be.
    """
    return _methods_of(kind)


@cache
def _methods_of(kind: Any) -> Mapping[str, Method]:
    base = next(c for c in kind.__mro__[::-1] if c.__module__ == "engine.environments.environment")
    own = {name for name in vars(base) if name not in OPEN}
    return {
        name: Method(name, function)
        for name, function in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and name not in own
    }


OPEN = frozenset({"change", "read", "subscribe", "unsubscribe", "view"})
"""Methods of every environment that agents may call."""


def is_plain(value: Any) -> bool:
    """Tell whether a value comes out of JSON as it went in, and cannot be changed."""
    kind = type(value)
    if kind is int or kind is bool or value is None:
        return True
    if kind is str:
        return value.isascii()  # type: ignore[no-any-return]
    return kind is float and math.isfinite(value)

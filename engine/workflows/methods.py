"""What is known of a class's methods: types of what goes in and comes out, and what may overlap."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "__simtui_concurrent__"


def concurrent(method: F) -> F:
    """Let calls of this method of one object overlap with each other: they do not change the object.

    Other calls of the object still come after those issued before them, and before those issued after.
    """
    setattr(method, _MARK, True)
    return method


class Method:
    """A method, or a plain attribute, which is read like a method without arguments."""

    def __init__(self, owner: type, name: str) -> None:
        function = getattr(owner, name, None)
        self.name = name
        self.label = f"{owner.__name__}.{name}"
        self.is_attribute = not callable(function)
        self.is_concurrent = getattr(function, _MARK, False)
        hints = {} if self.is_attribute else _hints(function)
        self._parameters = [] if self.is_attribute else _parameters(owner, name)
        self._decoders = {name: _decoder(hint) for name, hint in hints.items()}
        self._types = hints

    def parameter(self, position: int) -> str:
        """Name a positional parameter; what `*args` takes goes by that name."""
        if position < len(self._parameters):
            return self._parameters[position]
        return self._parameters[-1] if self._parameters else ""

    def decoder(self, parameter: str = "return") -> msgspec.msgpack.Decoder[Any]:
        """Return what reads a value of the annotated type."""
        return self._decoders.get(parameter, UNTYPED)

    def convert(self, value: Any, parameter: str) -> Any:
        """Turn what was put together from several values into the annotated type."""
        hint = self._types.get(parameter, Any)
        return value if hint is Any else msgspec.convert(value, hint)


UNTYPED: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder()


def method_of(owner: type, name: str) -> Method:
    """Describe a method once."""
    return _describe(owner, name)


_describe = cache(Method)


def _hints(function: Any) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except Exception:  # an annotation that names what exists for type checkers alone
        return {}


def _parameters(owner: type, name: str) -> list[str]:
    try:
        names = list(inspect.signature(getattr(owner, name)).parameters)
    except (TypeError, ValueError):  # some methods written in C have no signature
        return []
    bound = isinstance(inspect.getattr_static(owner, name), staticmethod | classmethod)
    return names if bound else names[1:]


def _decoder(hint: Any) -> msgspec.msgpack.Decoder[Any]:
    try:
        return msgspec.msgpack.Decoder(hint)
    except TypeError:  # not a type that msgspec reads: values of it cannot be sent anyway
        return UNTYPED

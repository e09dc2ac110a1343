"""A value that may be yet to come: it can be passed on at once, and is fetched when Python needs it."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

from engine.workflows.methods import Method
from engine.workflows.wire import Source

if TYPE_CHECKING:
    from engine.workflows.session import Workflow

POLL_S = 0.002
"""How often `await` looks for a value while other tasks run."""
_MISSING: Any = object()


class Pending:
    """The result of a call on a handle.

    Comparison, arithmetic, iteration, indexing, `if`, str() and attributes use the value, and wait for it.
    `is` and isinstance() see the pending result itself: take `.value()` for those.
    """

    __slots__ = ("__weakref__", "_method", "_sent", "_source", "_value", "_workflow")

    def __init__(self, workflow: Workflow, source: Source, method: Method) -> None:
        self._workflow = workflow
        self._source = source
        self._method = method
        self._sent: set[int] = set()
        self._value: Any = _MISSING

    def value(self) -> Any:
        """Wait for the value. Raises what the method raised, and WorkerLost if it will never come."""
        if self._value is _MISSING:
            self._value = self._workflow.fetch_one(self)
        return self._value

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait for the value while other tasks of the loop go on."""
        self._workflow.request(self)
        while self._value is _MISSING and not self._workflow.is_here(self):
            yield from asyncio.sleep(POLL_S).__await__()
        return self.value()

    def __del__(self) -> None:
        self._workflow.release(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.value(), name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __hash__(self) -> int:
        return hash(self.value())

    def __format__(self, spec: str) -> str:
        return format(self.value(), spec)

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.value(), digits)

    def __contains__(self, item: Any) -> bool:
        return item in self.value()

    def __getitem__(self, key: Any) -> Any:
        return self.value()[plain(key)]


def plain(value: Any) -> Any:
    """Return the value of a pending result, and anything else as it is."""
    return value.value() if isinstance(value, Pending) else value


def _unary(function: Callable[[Any], Any]) -> Callable[[Pending], Any]:
    return lambda self: function(self.value())


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[Pending, Any], Any]:
    return lambda self, other: function(self.value(), plain(other))


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Pending, Any], Any]:
    return lambda self, other: function(plain(other), self.value())


_UNARY: dict[str, Callable[[Any], Any]] = {
    **{"bool": bool, "str": str, "repr": repr, "len": len, "int": int, "float": float},
    **{name: getattr(operator, f"__{name}__") for name in ("index", "neg", "pos", "abs", "invert")},
}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")

for _name, _function in _UNARY.items():
    setattr(Pending, f"__{_name}__", _unary(_function))
for _name in (*_COMPARISONS, *_ARITHMETIC):
    setattr(Pending, f"__{_name}__", _binary(getattr(operator, f"__{_name}__")))
for _name in _ARITHMETIC:
    setattr(Pending, f"__r{_name}__", _reflected(getattr(operator, f"__{_name}__")))

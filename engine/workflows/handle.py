"""An object of a workflow that lives elsewhere, as the workflow sees it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.workflows.methods import method_of

if TYPE_CHECKING:
    from engine.workflows.session import Workflow


class Handle:
    """Its methods return pending results at once; its attributes are read where the object lives."""

    __slots__ = ("__dict__", "_number", "_target", "_workflow")

    def __init__(self, workflow: Workflow, number: int, target: Any) -> None:
        put = object.__setattr__
        put(self, "_workflow", workflow)
        put(self, "_number", number)
        put(self, "_target", target)

    def __getattr__(self, name: str) -> Any:
        kind = type(self._target)
        is_there = hasattr(kind, name) or name in getattr(self._target, "__dict__", ())
        if name.startswith("__") or not is_there:
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
        method = method_of(kind, name)
        if method.is_attribute:
            return self._workflow.call(self._number, method, (), {})
        call: Callable[..., Any] = partial(_call, self._workflow.call, self._number, method)
        self.__dict__[name] = call
        return call

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self._target).__name__
        raise AttributeError(f"{kind}.{name} lives in another process: give {kind} a method that sets it")

    def __repr__(self) -> str:
        return f"<handle of {type(self._target).__name__} {self._number}>"


def _call(call: Callable[..., Any], number: int, method: Any, /, *args: Any, **kwargs: Any) -> Any:
    return call(number, method, args, kwargs)

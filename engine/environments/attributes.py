"""What of an environment's state agents may read and change; the rest is the environment's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class NotAllowed(Exception):
    """An agent asks for something that it may not see, or may not change."""


class Attribute:
    """A piece of state, declared in the class body: `pot = shared(0)`.

    Methods of the environment use it like any attribute: `self.pot += 1`.
    """

    def __init__(self, default: Any, readers: str, *, agents_change: bool) -> None:
        """`default` is a value or a function that makes one; `readers` is "all" or "owner"."""
        self._make: Callable[[], Any] = default if callable(default) else lambda: default
        self._readers = readers
        self.agents_change = agents_change
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if self._name not in instance.__dict__:
            instance.__dict__[self._name] = self._make()
        return instance.__dict__[self._name]

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value

    def seen_by(self, agent: int, instance: Any) -> Any:
        """Return what an agent sees of it: all, or its own entry; None if it has none."""
        value = self.__get__(instance)
        return value if self._readers == "all" else value.get(agent)


def shared(default: Any, *, agents_change: bool = False) -> Any:
    """Declare state that all agents may read, and change too if `agents_change`."""
    return Attribute(default, "all", agents_change=agents_change)


def own(*, agents_change: bool = False) -> Any:
    """Declare a dict by agent: each may read its own entry alone, and change it if `agents_change`."""
    return Attribute(dict, "owner", agents_change=agents_change)


def view(environment: Any, agent: int) -> dict[str, Any]:
    """Return all that an agent may see."""
    return {name: found.seen_by(agent, environment) for name, found in _declared(type(environment)).items()}


def read(environment: Any, agent: int, name: str) -> Any:
    """Return one attribute as an agent sees it. Raises NotAllowed."""
    return _find(environment, name, "see").seen_by(agent, environment)


def change(environment: Any, agent: int, name: str, value: Any) -> None:
    """Set an attribute, or an agent's own entry of it, on behalf of an agent. Raises NotAllowed."""
    found = _find(environment, name, "change")
    if not found.agents_change:
        raise NotAllowed(f"agents may not change {name!r} of {type(environment).__name__}")
    if found._readers == "all":
        setattr(environment, name, value)
    else:
        getattr(environment, name)[agent] = value


def _declared(kind: type) -> dict[str, Attribute]:
    return {
        name: found
        for base in reversed(kind.__mro__)
        for name, found in vars(base).items()
        if isinstance(found, Attribute)
    }


def _find(environment: Any, name: str, verb: str) -> Attribute:
    declared = _declared(type(environment))
    if name not in declared:
        can = ", ".join(declared) or "nothing"
        raise NotAllowed(f"agents may not {verb} {name!r} of {type(environment).__name__}, but: {can}")
    return declared[name]

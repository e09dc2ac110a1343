"""An agent's call of an environment, and how it travels between workers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.agents.calls import take_key
from engine.agents.effects import Effect
from engine.environments.methods import Method, methods_of

if TYPE_CHECKING:
    from engine.agents.scheduler import Activation, Scheduler
    from engine.environments.environment import Environment
    from engine.environments.host import Host


class CallFailed(Exception):
    """A call of an environment raised there, or is not one that it takes."""


class EnvironmentCall(Effect):
    """One call; the result is what the method returns."""

    __slots__ = ("arguments", "caller", "host", "key", "method", "number", "sent")
    key: int
    """These are set when the call is made."""
    caller: int

    def __init__(self, host: Host, number: int, method: Method, args: tuple[Any, ...]) -> None:
        """`number` is the environment's. Raises like Method.arguments."""
        self.host = host
        self.number = number
        self.method = method
        self.arguments, self.sent = method.arguments(args)

    def __await__(self) -> Generator[Effect, Any, Any]:
        """Call at once where the environment lives on this worker: that needs no turn of the scheduler."""
        caller = self.host.caller_at_once(self.number)
        if caller is not None:
            self._take_place(caller)
            return self.host.call(self)
        return (yield self)

    def begin(self, scheduler: Scheduler) -> None:
        """Send the call."""
        self._take_place(self.activation)
        self.host.begin(self)

    def _take_place(self, activation: Activation) -> None:
        self.key = take_key(activation)
        self.caller = activation.agent.id


class Handle:
    """An environment as agents have it: its methods, to be awaited unless they are buffered."""

    def __init__(self, host: Host, number: int, kind: type[Environment]) -> None:
        self._host = host
        self._number = number
        self._kind = kind

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = methods_of(self._kind).get(name)
        if method is None:
            known = ", ".join(methods_of(self._kind))
            raise AttributeError(f"{self._kind.__name__} has no method {name!r} for agents, but: {known}")
        found = partial(_put if method.is_buffered else _call, self._host, self._number, method)
        self.__dict__[name] = found
        return found


def handles(
    host: Host, numbers: Mapping[str, int], kinds: Mapping[str, type[Environment]]
) -> dict[str, Handle]:
    """Return handles of environments, by name."""
    return {name: Handle(host, number, kinds[name]) for name, number in numbers.items()}


def _call(host: Host, number: int, method: Method, /, *args: Any, **kwargs: Any) -> EnvironmentCall:
    return EnvironmentCall(host, number, method, method.bind(args, kwargs))


def _put(host: Host, number: int, method: Method, /, *args: Any, **kwargs: Any) -> None:
    host.put(number, method, method.bind(args, kwargs))

"""The base class of environments: what a scenario author writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from engine.environments import attributes
from engine.environments.listeners import Event, Listener, Listeners
from engine.environments.methods import methods_of

if TYPE_CHECKING:
    from engine.environments.host import Host


class Environment:
    """An actor with state, placed with its members, whose methods agents call.

    `await self.environments["market"].buy(3)` calls `buy` at once and returns its result; calls are carried
    out one after the other, in order of arrival. Calls of `@buffered` methods are not awaited and carried out
    at the round's end, in the order of agents. Like an agent, an environment may depend on nothing but what
    is here: then a run can be repeated and resumed.
    """

    scope: ClassVar[Literal["group", "world"]] = "group"
    """One for each group, or one for all of them, which couples them."""
    parent: ClassVar[str] = ""
    """The environment of the world that one of a group belongs to, if any, by its name."""

    caller: int = -1
    """Who calls: the agent, or the environment that is nested in this one."""

    def enter(
        self,
        *,
        number: int,
        name: str,
        group: int,
        members: range,
        newcomers: range = range(0),
        settings: Any,
        seed: int,
        host: Host,
    ) -> None:
        """Take the place in the run; called once."""
        self.number = number
        """Its id, beyond those of all agents."""
        self.name = name
        self.group = group
        self.members = members
        """The agents of its group, or all, that the run begins with."""
        self.newcomers = newcomers
        """The ids of those that are born later, if any are."""
        self.settings = settings
        """Those of the scenario."""
        self.round = 1
        self.listeners = Listeners(self._listener_failed)
        self._subscribed: dict[tuple[int, str], Listener] = {}
        self._seed = seed
        self._host = host
        self._rng: tuple[int, np.random.Generator] | None = None
        self.setup()

    def setup(self) -> None:
        """Make the state at the start of the run."""

    def end_round(self) -> Mapping[str, Any] | None:
        """End the round, after its buffered calls; return what the scenario is to know of it."""

    def aggregate(self) -> Any:
        """Return what the parent is to know at the end of the round."""

    def collect(self, children: Mapping[int, Any]) -> None:
        """Take what nested environments have aggregated, by group, before this one's `end_round`."""

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers of this environment in this round."""
        if self._rng is None or self._rng[0] != self.round:
            key = np.random.SeedSequence((self._seed, self.number, self.round))
            self._rng = (self.round, np.random.Generator(np.random.Philox(key)))
        return self._rng[1]

    def tell(self, agent: int, message: Any) -> None:
        """Send a message that is handled before the agent's next step. Raises ValueError for strangers."""
        self._host.tell(self, agent, message)

    def call_parent(self, method: str, *args: Any) -> None:
        """Call a `@buffered` method of the environment that this one is nested in."""
        self._host.put_to_parent(self, method, args)

    def listen(
        self, event: str, action: Callable[[Event], None], when: Callable[[Event], bool] | None = None
    ) -> Listener:
        """Do something after each `@event` of that name for which `when` holds."""
        return self.listeners.add(event, action, when)

    def unlisten(self, listener: Listener) -> None:
        """Remove a listener."""
        self.listeners.remove(listener)

    def subscribe(self, event: str, when: str | None = None) -> None:
        """Let the caller have a message, an Event, after each event of that name.

        `when` names a method of the environment that is given the event and says whether. Raises ValueError
        for names that there are not.
        """
        known = methods_of(type(self))
        for name in filter(None, (event, when)):
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no method {name!r}, but: {', '.join(known)}")
        agent = self.caller
        self.unsubscribe(event)
        self._subscribed[agent, event] = self.listen(
            event, lambda happened: self.tell(agent, happened), getattr(self, when) if when else None
        )

    def unsubscribe(self, event: str) -> None:
        """End what `subscribe` began."""
        listener = self._subscribed.pop((self.caller, event), None)
        if listener is not None:
            self.unlisten(listener)

    def view(self) -> dict[str, Any]:
        """Return all that the caller may see of the declared attributes."""
        return attributes.view(self, self.caller)

    def read(self, name: str) -> Any:
        """Return an attribute as the caller sees it. Raises NotAllowed."""
        return attributes.read(self, self.caller, name)

    def change(self, name: str, value: Any) -> None:
        """Set an attribute that agents may change. Raises NotAllowed."""
        attributes.change(self, self.caller, name, value)

    def _listener_failed(self, listener: Listener, error: Exception) -> None:
        self._host.listener_failed(self, listener, error)

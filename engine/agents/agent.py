"""The base class of agents: what a scenario author writes, and what is at hand while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.agents.births import Birth, Community
from engine.agents.memories.settings import AnyMemory
from engine.agents.memory import Memory
from engine.agents.model import Model
from engine.agents.post import Ask

if TYPE_CHECKING:
    from engine.agents.world import World


class Stateless(msgspec.Struct, gc=False):
    """State of agents that keep nothing between rounds but their memory."""


_NOTHING = Stateless()


class Agent:
    """An actor with an id. Subclass it and write `step`.

    All that an agent may depend on is here: its observation, its own attributes, `rng`, replies of the model
    and messages. No clock, no global state, no other randomness: then a run can be repeated and resumed.
    """

    __slots__ = ("_memory", "_rng", "id", "state", "world")

    State: ClassVar[type[msgspec.Struct] | None] = None
    """The struct, with a default for each field, that holds all that an agent has between rounds besides its
    memory. Runs whose agents all declare one are snapshotted."""
    remembers: ClassVar[AnyMemory | None] = None
    """The kind of memory that agents of this class have unless the preset names one; None: the full
    history."""

    def __init__(self, agent_id: int) -> None:
        self.id = agent_id
        self.world: World = None  # type: ignore[assignment]  # see `enter`
        self.state: Any = _NOTHING if self.State is Stateless else self.State and self.State()
        self._memory: Memory | None = None
        self._rng: tuple[int, np.random.Generator] | None = None

    def enter(self, world: World) -> None:
        """Take the place in a group; called by the worker before the first step, and when a branch begins."""
        self.world = world
        if self._memory is not None:
            self._memory = world.memories.taken_over(self, self._memory)

    async def step(self, observation: Any) -> Any:
        """Act once in a round and return what the scenario makes its tally of.

        An exception that leaves this method stops the agent for the rest of the run and is counted.
        """
        raise NotImplementedError

    async def receive(self, message: Any, sender: int) -> Any:
        """Handle a message. What this returns is the answer when the message was asked, not told.

        Told messages arrive before the next step, sorted by sender; asked ones after this round's step. The
        type annotated for `message` is what it is decoded to.
        """
        raise NotImplementedError(f"{type(self).__name__} got a message but has no receive()")

    def to_dist(self) -> Self:
        """Return a handle of this agent in the workflow that is entered, like `distribute(agent)`."""
        from engine.workflows.session import distribute  # runs need no workflows

        return distribute(self)

    def tell(self, receiver: int, message: Any) -> None:
        """Send a message that is handled before the receiver's next step.

        `receiver` is any integer, NumPy's too. Raises ValueError for an agent that does not exist, or of
        another group, unless the scenario couples its groups; MailboxFull for more messages in a turn than a
        mailbox holds (`engine.mailbox`).
        """
        self.world.mail.tell(self, index(receiver), message)

    def broadcast(self, message: Any, to: Iterable[int] | None = None) -> None:
        """Tell all other members of the group, or all of `to`, such as `self.neighbours`.

        That is one message to each worker, however many hear it. Raises like `tell`.
        """
        self.world.mail.broadcast(self, message, to)

    def publish(self, topic: str, message: Any) -> None:
        """Tell all others of the group, or of all groups if they are coupled, who are subscribed to a topic.

        Those who are so at the end of the round hear it before their next step. Raises like `tell`, and
        TypeError for a topic that is no text, or empty.
        """
        self.world.mail.publish(self, topic, message)

    def subscribe(self, topic: str) -> None:
        """Hear what is published on a topic, in this round and later. Raises TypeError like `publish`."""
        self.world.mail.subscribe(self.id, topic)

    def unsubscribe(self, topic: str) -> None:
        """Hear no more of that, in this round and later; again does nothing."""
        self.world.mail.unsubscribe(self.id, topic)

    def ask(self, receiver: int, message: Any) -> Ask:
        """Send a message and await the answer: `price = await self.ask(seller, "price?")`.

        The other answers once its own step of this round is over. Agents that wait for each other in a circle
        all get NoAnswer, which names it.
        """
        return Ask(index(receiver), message)

    def spawn(self, name: str = "", *, persona: str = "", **attributes: Any) -> None:
        """Ask for a new agent in this group, with this one as its parent; it acts from the next round on.

        By then it is in `children`, and in `named` if it has a name. Raises NoRoom when no more may come
        (`[population.births]`), and RuntimeError where agents may not come and go.
        """
        self._community.spawn(self, name, persona, attributes)

    def retire(self, who: int | None = None) -> None:
        """Let this agent, or one of its children, act for the last time in this round.

        Raises ValueError for anybody else, and RuntimeError where agents may not come and go.
        """
        self._community.retire(self, self.id if who is None else index(who))

    @property
    def children(self) -> tuple[int, ...]:
        """Ids of those that this one has asked for, in order, retired ones included."""
        community = self.world.community
        return tuple(community.children.get(self.id, ())) if community else ()

    @property
    def parent(self) -> int | None:
        """The agent that asked for this one; None for those that the run began with."""
        return None if self._birth is None else self._birth.parent

    @property
    def name(self) -> str:
        """What this agent is called."""
        return f"agent {self.id}" if self._birth is None else self._birth.name

    @property
    def named(self) -> Mapping[str, int]:
        """The ids of the group's newcomers, by name."""
        return self.world.community.by_name if self.world.community else {}

    @property
    def _birth(self) -> Birth | None:
        return self.world.community.births.get(self.id) if self.world.community else None

    @property
    def _community(self) -> Community:
        if self.world.community is None:
            kind = type(self.world.scenario).__name__
            raise RuntimeError(f"agents come and go only where the scenario says so: {kind}.dynamic = True")
        return self.world.community

    @property
    def model(self) -> Model:
        """The language model, or what stands in for it."""
        return self.world.model

    @property
    def memory(self) -> Memory:
        """The conversation so far; the scenario's shared messages come first in it."""
        if self._memory is None:
            self._memory = self.world.memories.of(self)
        return self._memory

    @property
    def attributes(self) -> dict[str, Any]:
        """What the preset's population says of this agent: values by attribute; empty if it says nothing."""
        if self._birth is not None:
            return dict(self._birth.wish.attributes)
        return dict(self.world.people.person(self.id)) if self.world.people else {}

    @property
    def persona(self) -> str:
        """Who this agent is, in words, from the preset's persona template; empty if there is none."""
        if self.world.community is not None and self._birth is not None:
            return self._birth.wish.persona
        return self.world.people.persona(self.id) if self.world.people else ""

    @property
    def neighbours(self) -> NDArray[np.int32]:
        """Ids of the agents that this one is joined to in the preset's networks, in order."""
        people = self.world.people
        return people.neighbours(self.id) if people and self._birth is None else np.empty(0, dtype=np.int32)

    @property
    def environments(self) -> Mapping[str, Any]:
        """The scenario's environments, by name: `await self.environments["market"].buy(3)`."""
        return self.world.environments

    @property
    def round(self) -> int:
        """The current round, from 1."""
        return self.world.round

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers of this agent in this round: the same in every run with the same seed."""
        if self._rng is None or self._rng[0] != self.round:
            key = np.random.SeedSequence((self.world.seed, self.id, self.round))
            self._rng = (self.round, np.random.Generator(np.random.Philox(key)))
        return self._rng[1]

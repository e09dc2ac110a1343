"""Agents that come and go while a run goes on: what a group knows of them on each of its workers.

Who is born, and who retires, is settled between two rounds by the coordinator, in the order of those who
asked for it: so a newcomer's id does not depend on what happened first, nor on where it happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from engine.agents.agent import Agent
    from engine.agents.scheduler import Scheduler


REFUSED = "not born"
"""Under this the ledger files newcomers that could not be."""


_packed = msgspec.msgpack.Decoder(tuple[str, str, dict[str, Any]])


class NoRoom(Exception):
    """There is no place, or no such name, left for a newcomer."""


class Wish(msgspec.Struct, array_like=True, frozen=True):
    """What an agent has asked for: a child. Attributes are what msgpack can carry."""

    parent: int
    name: str
    persona: str
    attributes: dict[str, Any]
    slice: int = 0
    """Newcomers think with the model of the slice that their parent belongs to."""


class Birth(msgspec.Struct, array_like=True, frozen=True):
    """A newcomer, from the round on in which it first acts."""

    id: int
    round: int
    wish: Wish

    @property
    def parent(self) -> int:
        """The agent that asked for it."""
        return self.wish.parent

    @property
    def name(self) -> str:
        """What it is called; no other newcomer of its group is."""
        return self.wish.name or f"agent {self.id}"


class Changes(msgspec.Struct, array_like=True, frozen=True):
    """What happened in a group between two rounds."""

    born: tuple[Birth, ...] = ()
    retired: tuple[tuple[int, int], ...] = ()
    """Who has retired, and who has sent it there."""
    refused: tuple[tuple[int, str], ...] = ()
    """Parents whose wish could not be met, and why."""

    def __bool__(self) -> bool:
        return bool(self.born or self.retired or self.refused)


class Community:
    """Who has come to a group and who has left it, the same on each of its workers in each round."""

    def __init__(self, scheduler: Scheduler, places: range, n_ids: int, per_parent: int | None) -> None:
        """`places` are the ids of newcomers to be, `n_ids` those of all agents that there may be, and
        `per_parent` is how many children one may have."""
        self.places = places
        self.n_ids = n_ids
        self.births: dict[int, Birth] = {}
        self.by_name: dict[str, int] = {}
        self.children: dict[int, list[int]] = {}
        self.retired: set[int] = set()
        self._scheduler = scheduler
        self._per_parent = per_parent

    def change(self, changes: Changes) -> None:
        """Note what has happened between two rounds."""
        for birth in changes.born:
            self.births[birth.id] = birth
            self.by_name[birth.name] = birth.id
            self.children.setdefault(birth.parent, []).append(birth.id)
        self.retired.update(agent for agent, _ in changes.retired)

    def absence(self, agent: int) -> str | None:
        """Say why an agent of the group is not there, None if it is."""
        if agent in self.retired:
            return f"agent {agent} has retired"
        return (
            f"agent {agent} has not been born" if agent in self.places and agent not in self.births else None
        )

    def spawn(self, agent: Agent, name: str, persona: str, attributes: dict[str, Any]) -> None:
        """Take a wish. Raises NoRoom, RuntimeError outside of a step, and TypeError and ValueError for what
        msgpack cannot carry: here, where it is the agent's own fault."""
        share = self._share()
        name, persona, attributes = _packed.decode(msgspec.msgpack.encode((name, persona, attributes)))
        mine = [wish for wish in share.wishes if wish.parent == agent.id]
        n_children = len(self.children.get(agent.id, ())) + len(mine)
        if self._per_parent is not None and n_children >= self._per_parent:
            raise NoRoom(f"{n_children} children are the most: population.births.per_parent")
        if len(self.births) + len(mine) >= len(self.places):
            raise NoRoom(f"all {len(self.places)} places are taken: population.births.per_group")
        if name and (name in self.by_name or any(wish.name == name for wish in mine)):
            raise NoRoom(f"there is a newcomer named {name!r} already")
        share.wishes.append(Wish(agent.id, name, persona, attributes, agent.world.slice))

    def retire(self, agent: Agent, who: int) -> None:
        """Let an agent, or a child of it, not act any more. Raises ValueError and RuntimeError."""
        if who != agent.id and who not in self.children.get(agent.id, ()):
            raise ValueError(f"agent {who} is no child of agent {agent.id}, nor is it this agent itself")
        self._share().retiring.append((who, agent.id))

    def _share(self) -> Any:
        activation = self._scheduler.running
        owner = None if activation is None else activation.owner
        if not hasattr(owner, "wishes"):
            raise RuntimeError("agents come and go from within step(), not while a question is answered")
        return owner

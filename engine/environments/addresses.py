"""Which environments there are, what their ids are, and where they live: by arithmetic alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.environments.environment import Environment

WORLD = -1
"""Stands for all groups."""


class Address(NamedTuple):
    """An environment's name and the group that it is of."""

    name: str
    group: int


class Addresses:
    """Ids follow those of the agents: kind by kind, group by group, then those of the world."""

    def __init__(
        self,
        kinds: Mapping[str, type[Environment]],
        n_agents: int,
        n_groups: int,
        worker_of_group: Callable[[int], int],
    ) -> None:
        """`worker_of_group` says where the first members of a group live."""
        self.kinds = kinds
        self.of_groups = [name for name, kind in kinds.items() if kind.scope == "group"]
        self.of_world = [name for name, kind in kinds.items() if kind.scope == "world"]
        self._n_agents = n_agents
        self._n_groups = n_groups
        self._worker_of_group = worker_of_group

    def of(self, group: int) -> dict[str, int]:
        """Return the ids of all environments that a group's members can call, or of the world's, by name."""
        world = self._n_agents + len(self.of_groups) * self._n_groups
        found = {name: world + place for place, name in enumerate(self.of_world)}
        if group != WORLD:
            for place, name in enumerate(self.of_groups):
                found[name] = self._n_agents + place * self._n_groups + group
        return found

    def settled_with(self, group: int) -> dict[str, int]:
        """Return the ids of those whose round ends with a group's, or with the world's."""
        names = self.of_world if group == WORLD else self.of_groups
        found = self.of(group)
        return {name: found[name] for name in names}

    def about(self, number: int) -> Address:
        """Return what an id stands for."""
        place, group = divmod(number - self._n_agents, self._n_groups)
        if place < len(self.of_groups):
            return Address(self.of_groups[place], group)
        return Address(self.of_world[number - self._n_agents - len(self.of_groups) * self._n_groups], WORLD)

    def worker_of(self, number: int) -> int:
        """Return where an environment lives: with its members; those of the world on the first worker."""
        group = self.about(number).group
        return 0 if group == WORLD else self._worker_of_group(group)

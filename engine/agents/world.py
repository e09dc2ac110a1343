"""What the members of a group have in common while they act on a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.agents.memories.making import Memories
from engine.models.protocol import Message

if TYPE_CHECKING:
    from engine.agents.births import Community
    from engine.agents.mail import Mail
    from engine.agents.model import Model
    from engine.population.people import People


class World:
    """One group on one worker: everything that an agent would otherwise carry a million times."""

    __slots__ = (
        "community",
        "environments",
        "group",
        "mail",
        "members",
        "memories",
        "model",
        "people",
        "round",
        "scenario",
        "seed",
        "shared",
        "slice",
    )

    def __init__(
        self,
        *,
        group: int,
        members: range,
        scenario: Any,
        seed: int,
        model: Model,
        mail: Mail,
        shared: tuple[Message, ...],
        slice_: int = 0,
        people: People | None = None,
        environments: Mapping[str, Any] | None = None,
        community: Community | None = None,
        memories: Memories | None = None,
    ) -> None:
        self.group = group
        self.members = members
        """All members of the group, wherever they are."""
        self.scenario = scenario
        self.seed = seed
        self.model = model
        self.mail = mail
        self.shared = shared
        """Messages that every member's conversation begins with."""
        self.slice = slice_
        """The part of the population that acts in this world; 0: outside of all slices."""
        self.people = people
        """Who the agents are; None if the preset gives them no attributes."""
        self.environments = environments or {}
        """The environments of the group and those of the world, by name."""
        self.community = community
        """Who has come and gone; None where nobody may."""
        self.memories = memories or Memories()
        """What makes the agents' memories."""
        self.round = 0

"""What the members of a group have in common while they act on a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.models.protocol import Message

if TYPE_CHECKING:
    from engine.agents.mail import Mail
    from engine.agents.model import Model


class World:
    """One group on one worker: everything that an agent would otherwise carry a million times."""

    __slots__ = ("group", "mail", "members", "model", "round", "scenario", "seed", "shared", "slice")

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
        self.round = 0

"""Whom an agent can send to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.agents.post import Absent

if TYPE_CHECKING:
    from engine.agents.world import World


def check_reach(world: World, receiver: int) -> None:
    """Raise ValueError if members of a group cannot send to an agent; Absent for one who is not there."""
    community = world.community
    if community is not None and (absence := community.absence(receiver)):
        raise Absent(absence)
    if receiver in world.members or (community is not None and receiver in community.places):
        return
    n_ids = world.scenario.n_agents if community is None else community.n_ids
    if not 0 <= receiver < n_ids:
        raise ValueError(f"there is no agent {receiver}: the last one is {n_ids - 1}")
    if not world.scenario.coupled:
        raise ValueError(
            f"agent {receiver} is not in group {world.group}, nor does the scenario couple its groups"
        )

"""Whom an agent can send to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.agents.world import World


def check_reach(world: World, receiver: int) -> None:
    """Raise ValueError if members of a group cannot send to an agent."""
    if receiver in world.members:
        return
    n_agents = world.scenario.n_agents
    if not 0 <= receiver < n_agents:
        raise ValueError(f"there is no agent {receiver}: the last one is {n_agents - 1}")
    if not world.scenario.coupled:
        raise ValueError(
            f"agent {receiver} is not in group {world.group}, nor does the scenario couple its groups"
        )

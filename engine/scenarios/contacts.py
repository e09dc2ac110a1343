"""Whom an agent is in touch with: its neighbours in the population's networks, or everybody in its group."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.agents.agent import Agent
from engine.agents.world import World
from engine.draws import mix

Places = NDArray[np.int64]
"""Places of members in their group, from 0."""


def contacts(agent: Agent) -> Places | None:
    """Return the places of an agent's neighbours in its group; None, meaning all, if there is no network."""
    return _neighbours(agent.world, agent.id)


def _neighbours(world: World, agent_id: int) -> Places | None:
    if world.people is None or world.people.graph is None:
        return None
    places = world.people.neighbours(agent_id).astype(np.int64) - world.members.start
    return places[(places >= 0) & (places < len(world.members))]


def partner(agent: Agent) -> int | None:
    """Return the place of the one that an agent meets in this round, who meets it too; None if nobody.

    Without a network, all members meet in pairs. With one, each picks a neighbour, and two who pick each
    other meet: both sides find that out by themselves, for who picks whom follows from the run's seed.
    """
    world, place = agent.world, agent.id - agent.world.members.start
    if contacts(agent) is None:
        met = int(_pairs(world.seed, world.group, world.round, len(world.members))[place])
        return met if met >= 0 else None
    picked = _picked(world, place)
    return picked if picked is not None and _picked(world, picked) == place else None


def _picked(world: World, place: int) -> int | None:
    known = _neighbours(world, world.members.start + place)
    if known is None or not len(known):
        return None
    number = mix(mix(world.seed, world.round), world.members.start + place)
    return int(known[number % len(known)])


@lru_cache(maxsize=64)
def _pairs(seed: int, group: int, round_: int, n: int) -> Places:
    """Return each member's partner; -1 for the one that is left over."""
    order = np.random.Generator(np.random.PCG64([seed, group, round_])).permutation(n)
    found = np.full(n, -1, dtype=np.int64)
    half = n // 2
    found[order[:half]], found[order[half : 2 * half]] = order[half : 2 * half], order[:half]
    return found

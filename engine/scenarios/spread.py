"""How news, rumours and habits spread, along networks or among all.

Daley and Kendall, Nature 204 (1964); Granovetter, American Journal of Sociology 83 (1978).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from engine.agents.agent import Agent
from engine.models.answers import Choice
from engine.models.policy import Turn
from engine.models.protocol import Message
from engine.scenarios import columns
from engine.scenarios.contacts import contacts
from engine.scenarios.participant import Participant
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

UNREACHED, SPREADING, STOPPED = 0.0, 1.0, 2.0
JOIN, WAIT, GO_ON, STOP = "join", "wait", "go on", "stop"


class SpreadSettings(ScenarioSettings, frozen=True, kw_only=True, tag="spread"):
    """Something spreads: whoever is in touch with those who do it decides whether to join, and when to "
    "stop."""

    news: Annotated[str, Meta(min_length=1, max_length=500)] = "passing on a rumour about the mayor"
    """What people do who have joined."""
    first: Annotated[int, Meta(ge=0)] = 1
    """How many in each group do it at first, drawn at random. With 0 everybody is asked from the beginning,
    otherwise those who are in touch with somebody who does it."""
    stops: bool = True
    """Those who do it are asked each round whether they stop; off, whoever has joined goes on for ever."""

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add that there have to be enough people."""
        found = ScenarioSettings.problems(self, population_size)
        smallest = population_size // self.groups
        if self.first > smallest:
            found.append(("first", f"{self.first} in groups of {smallest}", f"0 to {smallest}"))
        return found


class Seen(msgspec.Struct, frozen=True):
    """What everybody did in the round before, as float64, and how many of them did it; empty at first."""

    states: bytes = b""
    n_spreading: int = 0


class Person(Participant):
    """Joins, goes on, stops."""

    __slots__ = ("state",)

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.state: float = UNREACHED

    async def step(self, seen: Seen) -> float:
        """Return what it does now."""
        game: Spread = self.world.scenario
        place, n = self.id - self.world.members.start, len(self.world.members)
        if not seen.states:
            first = _first(self.world.seed, self.world.group, n, game.settings.first)
            self.state = SPREADING if place in first else UNREACHED
            return self.state
        known = contacts(self)
        if known is None:
            k, n_contacts = seen.n_spreading - (self.state == SPREADING), n - 1
        else:
            states = np.frombuffer(seen.states, dtype=np.float64)
            k, n_contacts = int((states[known] == SPREADING).sum()), len(known)
        return await self._decide(game, {"spreading": int(k), "contacts": n_contacts, "place": place})

    async def _decide(self, game: Spread, around: dict[str, int]) -> float:
        facts = {**around, "joined": self.state == SPREADING}
        told = f"{around['spreading']} of the {around['contacts']} people you are in touch with are"
        if self.state == UNREACHED and (around["spreading"] or game.settings.first == 0):
            question = f'{told} {game.settings.news}. Do you join them? Reply with "{JOIN}" or "{WAIT}".'
            joins = await self.decide(question, game.joining, facts) == JOIN
            self.state = SPREADING if joins else UNREACHED
        elif self.state == SPREADING and game.settings.stops:
            question = f'You are {game.settings.news}. {told}, too. Reply with "{GO_ON}" or "{STOP}".'
            stops = await self.decide(question, game.stopping, facts) == STOP
            self.state = STOPPED if stops else SPREADING
        return self.state


@lru_cache(maxsize=64)
def _first(seed: int, group: int, n: int, first: int) -> frozenset[int]:
    """Return the places of those who do it at first."""
    return frozenset(
        np.random.Generator(np.random.PCG64([seed, group])).choice(n, first, replace=False).tolist()
    )


class Spread(Scenario):
    """The spreading."""

    Settings = SpreadSettings
    Observation = Seen
    settings: SpreadSettings

    def __init__(self, settings: SpreadSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.joining = Choice((JOIN, WAIT))
        self.stopping = Choice((GO_ON, STOP))

    def agent(self, agent_id: int) -> Agent:
        """Make a person."""
        return Person(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return what all are told."""
        return (
            Message("system", "You live among other people and see what they do. You decide for yourself."),
        )

    def opening(self, group: int) -> Seen:
        """Nobody has been seen yet."""
        return Seen()

    def tally(self, members: range, values: Sequence[float | None]) -> bytes:
        """Pack what all do."""
        return columns.pack(values)

    def conclude(self, round_: int, group: int, tallies: Sequence[bytes]) -> Outcome:
        """Count the states, and pass them on."""
        states = columns.joined(tallies)
        counts = {state: int((states == state).sum()) for state in (UNREACHED, SPREADING, STOPPED)}
        stats: dict[str, int | float | str | None] = {
            "unreached": counts[UNREACHED],
            "spreading": counts[SPREADING],
            "stopped": counts[STOPPED],
            "reached": (counts[SPREADING] + counts[STOPPED]) / len(states),
        }
        return Outcome(stats, Seen(states.tobytes(), counts[SPREADING]))


def sir(turn: Turn) -> str:
    """Catch it from each round's contacts at the rate `beta`, and stop with probability `gamma`.

    Reached with 1 - exp(-beta k / n) if k of n contacts spread it: each case reaches beta / gamma others at
    first (Kermack and McKendrick, Proceedings of the Royal Society A 115, 1927).
    """
    facts = turn.facts
    if facts["joined"]:
        return STOP if turn.rng.random() < turn.parameters.get("gamma", 1.0) else GO_ON
    share = facts["spreading"] / max(facts["contacts"], 1)
    return JOIN if turn.rng.random() < 1 - exp(-turn.parameters.get("beta", 2.0) * share) else WAIT


def threshold(turn: Turn) -> str:
    """Join from the share `threshold` of one's contacts on (Watts, PNAS 99, 2002), and never stop."""
    share = turn.facts["spreading"] / max(turn.facts["contacts"], 1)
    return _join(turn, share >= turn.parameters.get("threshold", 0.2))


def granovetter(turn: Turn) -> str:
    """Join once as many have joined as one's place says; whose place is `missing` needs one more."""
    place = turn.facts["place"]
    return _join(turn, turn.facts["spreading"] >= place + (place == turn.parameters.get("missing", -1)))


def _join(turn: Turn, joins: bool) -> str:
    if turn.facts["joined"]:
        return GO_ON
    return JOIN if joins else WAIT


Spread.policies = {"sir": sir, "threshold": threshold, "granovetter": granovetter}
Spread.policy_parameters = {
    "sir": ("beta", "gamma"),
    "threshold": ("threshold",),
    "granovetter": ("missing",),
}

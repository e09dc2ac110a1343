"""Opinion dynamics: hear what others think, and think again; along networks or among all.

DeGroot, Journal of the American Statistical Association 69 (1974); Deffuant, Neau, Amblard and Weisbuch,
Advances in Complex Systems 3 (2000); Hegselmann and Krause, JASSS 5(3) (2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from engine.agents.agent import Agent
from engine.models.answers import Number
from engine.models.policy import Turn
from engine.models.protocol import Message
from engine.scenarios import columns
from engine.scenarios.contacts import contacts, partner
from engine.scenarios.participant import Participant
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

MOST_TOLD = 50
"""Opinions that a language model is told at most."""


class OpinionsSettings(ScenarioSettings, frozen=True, kw_only=True, tag="opinions"):
    """Everybody has an opinion, hears those of others each round, and may change it."""

    topic: Annotated[str, Meta(min_length=1, max_length=500)] = "Town centres should be closed to cars."
    """The statement that opinions are about."""
    hears: Literal["all", "one"] = "all"
    """Whom each hears in a round: all neighbours in the population's networks (everybody in the group, if
    there are none), or one, who hears it too."""
    high: Annotated[float, Meta(gt=0, le=1_000_000)] = 100.0
    """Full agreement; 0 is full disagreement."""
    decimals: Annotated[int, Meta(ge=0, le=6)] = 0
    """Digits after the point in an opinion."""
    gap: Annotated[float, Meta(gt=0, lt=1)] = 0.05
    """Opinions further apart than that share of the range, with none in between, are in different "
    "clusters."""


class Heard(msgspec.Struct, frozen=True):
    """Everybody's opinion of the round before, as float64; empty at first."""

    opinions: bytes = b""


class Person(Participant):
    """Has an opinion."""

    __slots__ = ("opinion",)

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.opinion: float | None = None

    async def step(self, seen: Heard) -> float | None:
        """Return the opinion, changed or not."""
        game: Opinions = self.world.scenario
        heard = self._heard(game, seen)
        if self.opinion is None or heard:
            facts = {"own": self.opinion, "heard": heard}
            self.opinion = await self.decide(game.question(self.opinion, heard), game.answer, facts)
        return self.opinion

    def _heard(self, game: Opinions, seen: Heard) -> list[float]:
        opinions = np.frombuffer(seen.opinions, dtype=np.float64)
        if self.opinion is None or not len(opinions):
            return []
        if game.settings.hears == "one":
            met = partner(self)
            found = opinions[[met]] if met is not None else opinions[:0]
        else:
            known = contacts(self)
            place = self.id - self.world.members.start
            found = np.delete(opinions, place) if known is None else opinions[known]
        heard: list[float] = found[~np.isnan(found)].tolist()
        return heard


class Opinions(Scenario):
    """The dynamics."""

    Settings = OpinionsSettings
    Observation = Heard
    settings: OpinionsSettings

    def __init__(self, settings: OpinionsSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.answer = Number(0, settings.high, settings.decimals)

    def agent(self, agent_id: int) -> Agent:
        """Make a person."""
        return Person(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return what all are told."""
        text = (
            f'People talk about this statement: "{self.settings.topic}" Everybody has an opinion on it, a '
            f"number from 0 (I disagree completely) to {self.settings.high:.15g} (I agree completely). Reply "
            "with the number alone."
        )
        return (Message("system", text),)

    def opening(self, group: int) -> Heard:
        """Nobody has said anything yet."""
        return Heard()

    def question(self, own: float | None, heard: Sequence[float]) -> str:
        """Return what a person is asked."""
        if own is None:
            return "What is your opinion?"
        told = ", ".join(f"{opinion:.{self.settings.decimals}f}" for opinion in heard[:MOST_TOLD])
        mine = f"{own:.{self.settings.decimals}f}"
        return f"Your opinion is {mine}. You have heard these of others: {told}. What is your opinion now?"

    def tally(self, members: range, values: Sequence[float | None]) -> bytes:
        """Pack the opinions."""
        return columns.pack(values)

    def conclude(self, round_: int, group: int, tallies: Sequence[bytes]) -> Outcome:
        """Describe the opinions, and pass them on."""
        opinions = columns.joined(tallies)
        given, high = opinions[~np.isnan(opinions)], self.settings.high
        stats: dict[str, Any] = {
            "mean": columns.mean(opinions),
            "sd": float(given.std()) if len(given) else None,
            "clusters": clusters(given, self.settings.gap * high),
        }
        return Outcome(stats, Heard(opinions.tobytes()), columns.histogram(opinions, 0, high), 0, high)


def clusters(opinions: columns.Numbers, gap: float) -> int:
    """Count the parts of more than one in a hundred that gaps without any opinion part from each other."""
    ordered = np.sort(opinions)
    parts = np.split(ordered, np.flatnonzero(np.diff(ordered) > gap) + 1)
    return sum(len(part) > len(opinions) / 100 for part in parts)


def _say(turn: Turn, opinion: float) -> str:
    return f"{min(max(opinion, 0), turn.settings.high):.{turn.settings.decimals}f}"


def _first(turn: Turn) -> str:
    return _say(turn, turn.rng.uniform(0, turn.settings.high))


def _near(turn: Turn) -> list[float]:
    """Return what was heard and is no further away than `epsilon`, a share of the range."""
    epsilon = turn.parameters.get("epsilon", 0.2) * turn.settings.high
    return [opinion for opinion in turn.facts["heard"] if abs(opinion - turn.facts["own"]) <= epsilon]


def hegselmann_krause(turn: Turn) -> str:
    """Take the mean of the own opinion and those within `epsilon` of it."""
    return _first(turn) if turn.facts["own"] is None else _say(turn, fmean([turn.facts["own"], *_near(turn)]))


def deffuant(turn: Turn) -> str:
    """Move by the share `mu` towards one that was heard, if it is within `epsilon`."""
    own = turn.facts["own"]
    if own is None:
        return _first(turn)
    near = _near(turn)
    return _say(turn, own + turn.parameters.get("mu", 0.5) * (turn.rng.choice(near) - own) if near else own)


def de_groot(turn: Turn) -> str:
    """Take the mean of the own opinion and all that were heard."""
    own = turn.facts["own"]
    return _first(turn) if own is None else _say(turn, fmean([own, *turn.facts["heard"]]))


Opinions.policies = {"hegselmann_krause": hegselmann_krause, "deffuant": deffuant, "de_groot": de_groot}
Opinions.policy_parameters = {"hegselmann_krause": ("epsilon",), "deffuant": ("epsilon", "mu")}

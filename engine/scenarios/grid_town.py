"""A town whose people move on a grid, meet, talk, and pass on news, or whatever else is catching.

Where all mix, that is the epidemic of Kermack and McKendrick, Proceedings of the Royal Society A 115 (1927).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from engine.agents.agent import Agent
from engine.agents.memory import Prompt, said
from engine.models.answers import Json
from engine.models.protocol import Message
from engine.scenarios import grid_town_rules as rules
from engine.scenarios.scenario import Outcome
from engine.scenarios.timed import TimedScenario, TimedSettings
from engine.scenarios.town import Town

Share = Annotated[float, Meta(ge=0, le=1)]


class GridTownSettings(TimedSettings, frozen=True, kw_only=True, tag="grid_town"):
    """People go home, to work, to a cafe or about, and meet whoever is in the same cell of the grid."""

    width: Annotated[int, Meta(ge=1, le=1000)] = 10
    """Cells from west to east; the edges are joined."""
    height: Annotated[int, Meta(ge=1, le=1000)] = 10
    """Cells from north to south."""
    works: Annotated[int, Meta(ge=1, le=100_000)] = 5
    """Places of work; everybody has one of them, drawn at random, as homes are."""
    cafes: Annotated[int, Meta(ge=1, le=100_000)] = 3
    """Cafes; everybody has one that it goes to."""
    news: Annotated[str, Meta(min_length=1, max_length=500)] = "the mayor will resign"
    """What is passed on."""
    first: Annotated[int, Meta(ge=0)] = 1
    """How many in each group know it at first, drawn at random."""
    catches: Share = 1.0
    """Probability that somebody who is told takes it up, for each who tells it in a round."""
    loses: Share = 0.0
    """Probability in a round that somebody who knows it loses interest, and tells it no more."""
    hears: Annotated[int, Meta(ge=1, le=50)] = 5
    """The last things said in company that a language model is told of."""

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add that there have to be enough people."""
        found = super().problems(population_size)
        smallest = population_size // self.groups
        if self.first > smallest:
            found.append(("first", f"{self.first} in groups of {smallest}", f"0 to {smallest}"))
        return found


class Person(Agent):
    """Looks around and goes somewhere."""

    __slots__ = ()

    async def step(self, observation: Any) -> bool:
        """Return that it was out."""
        game: GridTown = self.world.scenario
        town, clock = self.environments["town"], game.settings.clock
        scene = await town.look()
        asked = rules.question(self.persona, clock.says(self.round), scene, game.settings.news)
        reply = await self.model.chat(
            Prompt(self.world.shared, (said("user", asked),)),
            game.informed if scene.informed else game.unaware,
            facts=rules.facts(clock.hour(self.round), scene),
        )
        town.go(reply.go, getattr(reply, "tell", False), reply.say.strip())
        return True


class GridTown(TimedScenario):
    """The town."""

    Settings = GridTownSettings
    environments = {"town": Town}
    policies = rules.POLICIES
    policy_parameters = rules.POLICY_PARAMETERS
    settings: GridTownSettings

    def __init__(self, settings: GridTownSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.unaware, self.informed = Json(rules.Move), Json(rules.MoveAndTell)

    def agent(self, agent_id: int) -> Agent:
        """Make a person."""
        return Person(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return what all are told."""
        return (Message("system", rules.instructions(self.group_size(group))),)

    def opening(self, group: int) -> None:
        """There is nothing that all see."""

    def tally(self, members: range, values: Sequence[bool | None]) -> int:
        """Count who was out."""
        return len(values) - values.count(None)

    def conclude(self, round_: int, group: int, tallies: Sequence[int]) -> Outcome:
        """Say when it was and how many were out; the town adds the rest."""
        return Outcome({"time": self.settings.clock.says(round_), "out": sum(tallies)})

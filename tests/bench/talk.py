"""Agents that talk to each other and to no model: what messages cost by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from simtui import Agent, Environment, Outcome, Scenario, ScenarioSettings


class TalkSettings(ScenarioSettings, frozen=True, kw_only=True, tag="talk"):
    """Everyone has one partner, half the population away."""

    way: Literal["tell", "broadcast", "ask", "call"] = "tell"
    """All tell their partners something; a few tell all others something once; the first half asks the
    second, one question after another; or the second half calls an environment that lives with the first."""
    messages: Annotated[int, Meta(ge=1)] = 10
    """How often each does so in a round."""


class Talker(Agent):
    """Counts what it hears."""

    __slots__ = ("heard",)

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.heard = 0

    async def step(self, observation: Any) -> int:
        """Talk, and return how many messages have been handled since the last step."""
        scenario = self.world.scenario
        settings, half = scenario.settings, scenario.n_agents // 2
        heard, self.heard = self.heard, 0
        if settings.way == "tell":
            for number in range(settings.messages):
                self.tell((self.id + half) % scenario.n_agents, number)
        elif settings.way == "broadcast":
            if self.id < settings.messages:
                self.broadcast(self.id)
        elif settings.way == "ask" and self.id < half:
            for number in range(settings.messages):
                heard += await self.ask(self.id + half, number)
        elif settings.way == "call" and self.id >= half:
            desk = self.environments["desk"]
            for number in range(settings.messages):
                heard += await desk.note(number)
        return heard

    async def receive(self, message: int, sender: int) -> int:
        """Count a message that was told, answer one that was asked."""
        self.heard += self.world.scenario.settings.way in ("tell", "broadcast")
        return 1


class Desk(Environment):
    """Counts calls."""

    def setup(self) -> None:
        """Begin with none."""
        self.n = 0

    def note(self, number: int) -> int:
        """Count a call."""
        self.n += 1
        return 1


class Talk(Scenario):
    """The scenario."""

    environments = {"desk": Desk}
    Settings = TalkSettings

    def agent(self, agent_id: int) -> Agent:
        """Make an agent."""
        return Talker(agent_id)

    def opening(self, group: int) -> Any:
        """There is nothing to see."""
        return None

    def tally(self, members: range, values: Sequence[int | None]) -> int:
        """Sum what was heard."""
        return sum(value or 0 for value in values)

    def conclude(self, round_: int, group: int, tallies: Sequence[int]) -> Outcome:
        """Sum over workers."""
        return Outcome({"heard": sum(tallies)})

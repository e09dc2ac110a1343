"""Groups that think and do nothing else; once each for itself, once all waiting for all."""

from __future__ import annotations

from collections.abc import Sequence

from simtui import Agent, Number, Outcome, Scenario, ScenarioSettings


class ApartSettings(ScenarioSettings, frozen=True, kw_only=True, tag="apart"):
    """Nothing more."""


class TogetherSettings(ScenarioSettings, frozen=True, kw_only=True, tag="together"):
    """Nothing more."""


class Thinker(Agent):
    """Asks the model once a round."""

    __slots__ = ()

    async def step(self, observation: None) -> float:
        """Return its answer."""
        answer: float = await self.model.chat(self.memory.with_user("A number?"), self.world.scenario.answer)
        return answer


class Apart(Scenario):
    """A barrier for each group."""

    Settings: type[ScenarioSettings] = ApartSettings
    answer = Number(0, 9)

    def agent(self, agent_id: int) -> Agent:
        """Make an agent."""
        return Thinker(agent_id)

    def opening(self, group: int) -> None:
        """There is nothing to see."""

    def tally(self, members: range, values: Sequence[float | None]) -> int:
        """Count answers."""
        return len(values) - values.count(None)

    def conclude(self, round_: int, group: int, tallies: Sequence[int]) -> Outcome:
        """Count them all."""
        return Outcome({"answers": sum(tallies)})


class Together(Apart):
    """One barrier for all groups."""

    Settings = TogetherSettings
    coupled = True

"""A scenario in which all that are born listen to what happens in their group's nursery, and some retire."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from engine.agents.agent import Agent
from engine.agents.births import Birth
from engine.agents.post import Absent
from engine.environments.environment import Environment
from engine.environments.listeners import event
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings


class NurserySettings(ScenarioSettings, frozen=True, kw_only=True, tag="nursery"):
    pass


class Nursery(Environment):
    @event
    def cry(self, loudness: int) -> int:
        return loudness


class Parent(Agent):
    """Has one child, and tells it something as long as it is there."""

    async def step(self, observation: None) -> list[Any]:
        if self.round == 1:
            self.spawn(f"child of {self.id}", age=0)
        await self.environments["nursery"].cry(self.id)
        try:
            for child in self.children:
                self.tell(child, self.id)
        except Absent as error:
            return [self.id, str(error)]
        return [self.id, len(self.children)]

    async def receive(self, message: Any, sender: int) -> None:
        """Children say nothing."""


class Child(Agent):
    """Listens, and retires in round 4 if its number is even."""

    heard: list[Any]

    async def step(self, observation: None) -> list[Any]:
        if self.round == 2:
            await self.environments["nursery"].subscribe("cry")
        if self.round == 4 and self.id % 2 == 0:
            self.retire()
        heard, self.heard = sorted(getattr(self, "heard", [])), []
        return [self.id, self.parent, heard]

    async def receive(self, message: Any, sender: int) -> None:
        heard = message if isinstance(message, int) else message["arguments"]["loudness"]
        self.heard = [*getattr(self, "heard", []), heard]


class Family(Scenario):
    Settings = NurserySettings
    dynamic = True
    environments = {"nursery": Nursery}

    def agent(self, agent_id: int) -> Agent:
        return Parent(agent_id)

    def newcomer(self, birth: Birth) -> Agent:
        return Child(birth.id)

    def opening(self, group: int) -> None:
        return None

    def tally(self, members: range, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def conclude(self, round_: int, group: int, tallies: Sequence[Any]) -> Outcome:
        return Outcome({"values": json.dumps(list(chain.from_iterable(tallies)))})

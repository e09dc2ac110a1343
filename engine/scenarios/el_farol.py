"""The El Farol bar, and with `capacity = 0.5` the minority game: go where not too many others go.

Arthur, American Economic Review 84 (1994); Challet and Zhang, Physica A 246 (1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from engine.agents.agent import Agent
from engine.agents.memory import Prompt, said
from engine.models.answers import Choice
from engine.models.protocol import Message
from engine.scenarios import columns
from engine.scenarios import el_farol_rules as rules
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings


class ElFarolSettings(ScenarioSettings, frozen=True, kw_only=True, tag="el_farol"):
    """Everybody decides whether to go to a bar that is only a pleasure if not too many go."""

    capacity: Annotated[float, Meta(gt=0, lt=1)] = 0.6
    """Share of the people up to which going is better than staying; 0.5 makes it the minority game."""
    memory: Annotated[int, Meta(ge=1)] = 10
    """Past evenings that a language model is told of; policies know all."""


class Evening(msgspec.Struct, frozen=True):
    """How many went last time; None at first, or if that is not known."""

    attendance: int | None = None


class Guest(Agent):
    """Goes or stays."""

    __slots__ = ("history",)

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.history: rules.History = ()

    async def step(self, seen: Evening) -> float:
        """Return 1 for going, 0 for staying."""
        game: ElFarol = self.world.scenario
        if seen.attendance is not None:
            self.history = _longer(self.history, seen.attendance)
        text = f"{self.persona} {rules.question(game.settings, self.round, self.history)}".lstrip()
        facts = {"history": self.history, "players": len(self.world.members)}
        prompt = Prompt(self.world.shared, (said("user", text),))
        return float(await self.model.chat(prompt, game.answer, facts=facts) == rules.GO)


@lru_cache(maxsize=1024)
def _longer(history: rules.History, attendance: int) -> rules.History:
    """Return a history with one more evening; the members of a group share it."""
    return (*history, attendance)


class ElFarol(Scenario):
    """The bar."""

    Settings = ElFarolSettings
    Observation = Evening
    policies = rules.POLICIES
    policy_parameters = rules.POLICY_PARAMETERS
    settings: ElFarolSettings

    def __init__(self, settings: ElFarolSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.answer = Choice((rules.GO, rules.STAY))

    def agent(self, agent_id: int) -> Agent:
        """Make a guest."""
        return Guest(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules."""
        return (Message("system", rules.instructions(self.settings, self.group_size(group))),)

    def opening(self, group: int) -> Evening:
        """Nothing is known yet."""
        return Evening()

    def tally(self, members: range, values: Sequence[float | None]) -> bytes:
        """Pack who went."""
        return columns.pack(values)

    def conclude(self, round_: int, group: int, tallies: Sequence[bytes]) -> Outcome:
        """Count who went, and who was right."""
        went = columns.joined(tallies)
        attendance = int(np.nansum(went))
        crowded = attendance > self.settings.capacity * len(went)
        stats: dict[str, int | float | str | None] = {
            "attendance": attendance,
            "share": columns.mean(went),
            "crowded": int(crowded),
            "content": columns.share(went, float(not crowded)),
        }
        return Outcome(stats, Evening(attendance))

    def overall(self, round_: int, tallies: Sequence[bytes]) -> Outcome:
        """Describe all groups together; each has a bar of its own."""
        went = columns.joined(tallies)
        return Outcome({"attendance": int(np.nansum(went)), "share": columns.mean(went)})

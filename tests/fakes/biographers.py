"""A scenario whose policies write personas, and whose agents tell their own to the model."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from engine.agents.agent import Agent
from engine.models.policy import Turn
from tests.fakes.trial import Plain, Trial, TrialSettings

WORDS = (
    "quiet",
    "loud",
    "tall",
    "kind",
    "brave",
    "proud",
    "calm",
    "clever",
    "merry",
    "stern",
    "frank",
    "eager",
)


class LivesSettings(TrialSettings, frozen=True, kw_only=True, tag="lives"):
    """As the other one."""


class Tells(Plain):
    async def step(self, observation: float) -> Any:
        return await self.number(f"{self.persona} {self.attributes['job']}")


def _good(turn: Turn) -> str:
    job = turn.facts["persona_of"]["job"]
    traits = " ".join(turn.rng.choice(WORDS) + turn.rng.choice("aeiou") for _ in range(15))
    return f"She is a {job} and she is the most {traits} of all."


def _second_try(turn: Turn) -> str:
    """Nurses are written well at once, cooks when asked again."""
    is_cook = turn.facts["persona_of"]["job"] == "cook"
    return "blah" if is_cook and turn.facts["attempt"] == 0 else _good(turn)


def _once(turn: Turn, process: int) -> str:
    """End a process when asked again for the first time."""
    gate = Path(turn.settings.gate)
    if turn.facts["attempt"] and not gate.exists():
        gate.touch()
        os.kill(process, signal.SIGKILL)
        signal.pause()
    return _second_try(turn)


class Lives(Trial):
    Settings = LivesSettings
    policies = {
        **Trial.policies,
        "good": _good,
        "second_try": _second_try,
        "kills_the_run": lambda turn: _once(turn, os.getppid()),
        "dies": lambda turn: _once(turn, os.getpid()),
    }

    def agent(self, agent_id: int) -> Agent:
        return Tells(agent_id)

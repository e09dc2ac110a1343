"""Turns of agents without a worker around them."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from engine.agents.agent import Agent
from engine.agents.effects import Effect
from engine.agents.scheduler import Activation, Scheduler
from engine.keys import pack


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Endings:
    """Owner of turns: keeps how each agent's ended."""

    def __init__(self, group: int = 0) -> None:
        self.group = group
        self.sent: dict[int, int] = {}
        self.outstanding = 0
        self.values: dict[int, Any] = {}
        self.errors: dict[int, BaseException] = {}

    def returned(self, activation: Activation, value: Any) -> None:
        """Keep a value."""
        self.values[activation.agent.id] = value

    def raised(self, activation: Activation, error: BaseException) -> None:
        """Keep an error."""
        self.errors[activation.agent.id] = error

    def settle(self) -> None:
        """Wait for nothing."""

    @property
    def n(self) -> int:
        """How many turns have ended."""
        return len(self.values) + len(self.errors)


class Wish(Effect):
    """Is fulfilled by the test; `begun` lists the wishes that were made."""

    def __init__(self, begun: list[Wish]) -> None:
        self._begun = begun

    def begin(self, scheduler: Scheduler) -> None:
        """Only say so."""
        self._begun.append(self)


class Refused(Effect):
    """Cannot even begin."""

    def begin(self, scheduler: Scheduler) -> None:
        """Refuse."""
        raise ValueError("refused")


def start(
    scheduler: Scheduler, coroutine: Coroutine[Any, Any, Any], endings: Endings, agent_id: int = 0
) -> Activation:
    """Begin a turn of an agent that has nothing but its id."""
    activation = Activation(Agent(agent_id), coroutine, pack(1, agent_id), endings)
    scheduler.begin(activation)
    return activation

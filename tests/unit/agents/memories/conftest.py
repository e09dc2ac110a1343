"""A bench whose agents remember in some way, and whose tokens are words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from engine.agents.agent import Agent
from engine.agents.memories.making import Memories
from engine.agents.memories.settings import AnyMemory
from engine.models.protocol import Message, Request
from tests.fakes.model_bench import GUESS, Bench

PERSONA = "You are Ada."


class Words:
    """Counts words; each message has one more, for what a template adds."""

    def prompt(self, messages: Sequence[Message]) -> int:
        return sum(1 + self.text(message.content) for message in messages)

    def text(self, text: str) -> int:
        return len(text.split())


class Remembering(Bench):
    """Agents that ask for a number and remember what they said."""

    def __init__(self, settings: AnyMemory | None, *, persona: str = "", **policy: Any) -> None:
        super().__init__(**policy)
        self.model._wants_facts = False
        self.memories = Memories(settings, Words())
        self.persona = persona

    def ask(self, text: str, round_: int = 1) -> None:
        """Let agent 0 ask."""

        async def script(agent: Agent) -> Any:
            if self.persona:
                agent.world.people = SimpleNamespace(persona=lambda _: self.persona)  # type: ignore[assignment]
            prompt = agent.memory.with_user(text)
            value = await agent.model.chat(prompt, GUESS)
            agent.memory.remember(prompt, f"{value:g}")
            return value

        self.begin(script, round_=round_)

    def exchange(self, text: str, reply: str = "1", round_: int = 1) -> list[tuple[str, str]]:
        """Ask, reply, and return the prompt after the rules."""
        self.ask(text, round_)
        [request] = self.reply(reply)
        return self.after_rules(request)

    def run_ready(self) -> None:
        """Do what waits for no reply."""
        while self.scheduler.has_ready:
            self.scheduler.run_ready()

    def after_rules(self, request: Request) -> list[tuple[str, str]]:
        return self.conversation(request)[1:]

    def words(self, request: Request) -> int:
        """Return how many tokens a request has."""
        return Words().prompt(self.catalogue.messages(request))

    @property
    def left_out(self) -> list[str]:
        """What the ledger says was left out."""
        return [detail for _, kind, detail, _ in self.record.failures if kind == "left out"]


@pytest.fixture
def remembering() -> Callable[..., Remembering]:
    """Make benches."""
    return Remembering

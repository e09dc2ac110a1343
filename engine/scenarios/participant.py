"""An agent that is asked in words, and what the answers of a conversation look like in it."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.agents.agent import Agent
from engine.agents.replies import Asked


class Participant(Agent):
    """Asks its model; the first question also says who it is."""

    __slots__ = ()

    async def decide(self, question: str, answer: Asked, facts: Any, *, remember: bool = True) -> Any:
        """Ask the model and return its answer.

        Question and answer become part of the conversation unless `remember` is off. Raises AnswerFailed.
        """
        who = self.persona if not self.memory.turns else ""
        prompt = self.memory.with_user(f"{who} {question}" if who else question)
        value = await self.model.chat(prompt, answer, facts=facts)
        if remember:
            self.memory.remember(prompt, written(value))
        return value


def written(value: Any) -> str:
    """Write an answer as the model would: numbers short, lists and structs as JSON."""
    if isinstance(value, str):
        return value
    return f"{value:.15g}" if isinstance(value, float) else msgspec.json.encode(value).decode()

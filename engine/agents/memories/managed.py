"""What all memories have in common that leave something out: the prompt is made when the model is asked."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from engine.agents.calls import ModelCall
from engine.agents.effects import Effect
from engine.agents.memories.calls import Recall
from engine.agents.memories.composition import Composition, last_exchanges
from engine.agents.memories.settings import MemorySettings
from engine.agents.memory import Memory, Prompt, said
from engine.agents.replies import Asked
from engine.models.protocol import Message
from engine.models.token_count import TokenCounter

if TYPE_CHECKING:
    from engine.agents.agent import Agent
    from engine.agents.model import Model


class Draft(Prompt, frozen=True, array_like=True):
    """A prompt that its memory makes when the model is asked; `tail` ends with the question."""

    memory: Managed

    def call(self, model: Model, answer: Asked, facts: Any) -> ModelCall:
        """Return the call that asks the question; a model that goes by facts reads no conversation."""
        if model._wants_facts:
            return ModelCall(model, Prompt(self.base, self.tail), answer, facts)
        return Recall(model, self, answer, facts, self.memory)


class Managed(Memory):
    """The full history within a budget, and the base of the other kinds."""

    __slots__ = ("agent", "counter", "settings")

    def __init__(self, agent: Agent, settings: MemorySettings, counter: TokenCounter) -> None:
        super().__init__(agent.world.shared)
        self.agent = agent
        self.settings: Any = settings
        self.counter = counter

    def with_user(self, text: str) -> Draft:
        """Return the prompt that goes on with `text`; what is in it is decided when the model is asked."""
        return Draft(self.base, (*self.turns, said("user", text)), self)

    def remember(self, prompt: Prompt, reply: str) -> None:
        """Keep the question of a prompt that was made from this memory, and the reply to it."""
        self.turns = (*self.turns, prompt.tail[-1], said("assistant", reply))

    def chores(self, model: Model, question: Message) -> Generator[Effect, Any, None]:
        """Yield what the model is to be asked before a question, if anything; answers are sent back."""
        yield from ()

    def compose(self, question: Message) -> Composition:
        """Return the parts of the prompt with a question."""
        return Composition(question, self.turns, persona=self.agent.persona)

    def outdated(self) -> list[str]:
        """Forget what no prompt has any more, budget or not, and return its texts."""
        return []

    def settle(self, composition: Composition, level: int) -> None:
        """Forget the turns that a prompt had no room for."""
        self.turns = composition.turns[composition.start(level) :]

    def fits(self, tail: tuple[Message, ...]) -> bool:
        """Tell whether a prompt with these messages is within the budget."""
        budget: int | None = self.settings.budget_tokens
        return budget is None or self.counter.prompt((*self.base, *tail)) <= budget


class Window(Managed):
    """The last exchanges."""

    __slots__ = ()

    def outdated(self) -> list[str]:
        """Forget all but the last exchanges."""
        start = last_exchanges(self.turns, self.settings.exchanges)
        gone, self.turns = self.turns[:start], self.turns[start:]
        return [turn.content for turn in gone]

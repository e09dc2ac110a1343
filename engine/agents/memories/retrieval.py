"""The last exchanges, and of all older ones those that recency, importance and relevance bring to mind.

After Park et al., Generative Agents, 2023, https://arxiv.org/abs/2304.03442, section 4.1. There recency
decays by the hour, here by the round, which all scenarios have.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from engine.agents.effects import AnswerFailed, Effect
from engine.agents.memories.calls import Chore
from engine.agents.memories.composition import Composition, exchange_starts, last_exchanges
from engine.agents.memories.managed import Managed
from engine.agents.memories.ranking import Relevance, scaled
from engine.agents.memories.settings import Retrieval
from engine.agents.memory import said
from engine.models.answers import Number
from engine.models.protocol import Message
from engine.models.token_count import TokenCounter

if TYPE_CHECKING:
    from engine.agents.agent import Agent
    from engine.agents.model import Model

MIDDLING = 5.0
RATING = Number(1, 10)
RATE = (
    "On a scale from 1 (of no consequence) to 10 (decisive for you), how important is it for you to remember "
    "this? Reply with the number alone.\n\n{}"
)


class Entry(msgspec.Struct, array_like=True):
    """One thing remembered."""

    text: str
    recalled: int
    """The round in which it was last in a prompt, or came about."""
    importance: float | None = None
    """From 1 to 10; None until the model has rated it."""


class Stream(Managed):
    """Remembers everything, and recalls some of it."""

    __slots__ = ("entries", "relevance")

    def __init__(
        self, agent: Agent, settings: Retrieval, counter: TokenCounter, relevance: Relevance
    ) -> None:
        super().__init__(agent, settings, counter)
        self.entries: list[Entry] = []
        self.relevance = relevance

    @property
    def kept(self) -> Any:
        """All entries."""
        return self.entries

    def restore(self, kept: Any) -> None:
        """Take over entries."""
        self.entries = msgspec.convert(kept, list[Entry])

    def note(self, text: str, importance: float = MIDDLING) -> None:
        """Keep something that happened; it can be recalled at once."""
        self.entries.append(Entry(_one_line(text), self.agent.round, min(max(importance, 1.0), 10.0)))

    def chores(self, model: Model, question: Message) -> Generator[Effect, Any, None]:
        """Have the model rate what is new among what is old; what it does not rate is middling."""
        self.outdated()
        for entry in [entry for entry in self.entries if entry.importance is None]:
            asked = Composition(said("user", RATE.format(entry.text)), (), persona=self.agent.persona)
            try:
                entry.importance = yield Chore(model, self, asked, RATING)
            except AnswerFailed:
                entry.importance = MIDDLING

    def outdated(self) -> list[str]:
        """Let all but the last exchanges grow old; none is forgotten."""
        self._age(last_exchanges(self.turns, self.settings.exchanges))
        return []

    def compose(self, question: Message) -> Composition:
        """Return the parts of the prompt with a question."""
        recalled = [(place, self.entries[place].text) for place in self.ranked(question.content)]
        return Composition(
            question, self.turns, persona=self.agent.persona, recalled=recalled[: self.settings.recall]
        )

    def settle(self, composition: Composition, level: int) -> None:
        """Note what was recalled; turns that there was no room for grow old."""
        for place, _ in composition.recalled[: composition.n_recalled(level)]:
            self.entries[place].recalled = self.agent.round
        self._age(composition.start(level))

    def ranked(self, question: str) -> list[int]:
        """Return the places of all entries, what fits the question best first; of equals the newest."""
        wanted, now = self.settings, self.agent.round
        recency = scaled([wanted.decay ** (now - entry.recalled) for entry in self.entries])
        importance = scaled(
            [MIDDLING if entry.importance is None else entry.importance for entry in self.entries]
        )
        relevance = scaled(self.relevance(question, [entry.text for entry in self.entries]))
        scores = [
            wanted.recency_weight * r + wanted.importance_weight * i + wanted.relevance_weight * v
            for r, i, v in zip(recency, importance, relevance, strict=True)
        ]
        return sorted(range(len(scores)), key=lambda place: (-scores[place], -place))

    def _age(self, start: int) -> None:
        """Make entries of the turns before `start`."""
        old, self.turns = self.turns[:start], self.turns[start:]
        ends = [*exchange_starts(old)[1:], len(old)] if old else []
        rated = MIDDLING if self.settings.importance == "given" else None
        for first, end in pairwise([0, *ends]):
            self.entries.append(Entry(_told(old[first:end]), self.agent.round, rated))


def _told(exchange: tuple[Message, ...]) -> str:
    """Return an exchange as one text."""
    parts = [f'You replied: "{m.content}"' if m.role == "assistant" else m.content for m in exchange]
    return _one_line(" ".join(parts))


def _one_line(text: str) -> str:
    return " ".join(text.split())

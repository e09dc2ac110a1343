"""The last exchanges, and a summary of the older ones that the model writes when it is due."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from engine.agents.effects import AnswerFailed, Effect
from engine.agents.memories.calls import Chore
from engine.agents.memories.composition import Composition, TooLong, exchange_starts, last_exchanges
from engine.agents.memories.managed import Managed
from engine.agents.memories.settings import RunningSummary
from engine.agents.memory import said
from engine.models.answers import Text
from engine.models.protocol import Message
from engine.models.token_count import TokenCounter

if TYPE_CHECKING:
    from engine.agents.agent import Agent
    from engine.agents.model import Model

EARLIER = "What you remember of earlier: "
INSTRUCTION = (
    "Before we go on, sum up for yourself all of the above in at most {} words: what you were told, what you "
    "answered, and why. Write the summary alone."
)
ANSWER = Text(max_chars=10_000)
MAX_WORD = 100
"""Characters of a word that are kept: languages without spaces write sentences as one."""
STAND_IN = "remembered "
"""A word of a summary that is not there yet; English words are shorter by half."""


class Summary(Managed):
    """Keeps a summary of what it forgets."""

    __slots__ = ("summary",)

    def __init__(self, agent: Agent, settings: RunningSummary, counter: TokenCounter) -> None:
        super().__init__(agent, settings, counter)
        self.summary = ""

    @property
    def kept(self) -> Any:
        """The summary so far."""
        return self.summary

    def restore(self, kept: Any) -> None:
        """Take over a summary."""
        self.summary = str(kept)

    def compose(self, question: Message) -> Composition:
        """Return the parts of the prompt with a question."""
        return self._parts(question, self.turns, self.summary)

    def chores(self, model: Model, question: Message) -> Generator[Effect, Any, None]:
        """Have a new summary written if one is due; without an answer, things stay as they are."""
        start = self._due(question)
        if not start:
            return
        instruction = said("user", INSTRUCTION.format(self.settings.max_words))
        try:
            parts = self._parts(instruction, self.turns[:start], self.summary)
            text = yield Chore(model, self, parts, ANSWER)
        except AnswerFailed:
            return
        self.summary = first_words(text, self.settings.max_words)
        self.turns = self.turns[start:]

    def _parts(self, question: Message, turns: tuple[Message, ...], summary: str) -> Composition:
        opening = (said("user", EARLIER + summary),) if summary else ()
        return Composition(question, turns, opening=opening, persona=self.agent.persona)

    def _due(self, question: Message) -> int:
        """Return how many turns are to be summed up now: those beyond the last, and what has no room."""
        n_exchanges = len(exchange_starts(self.turns))
        is_time = n_exchanges >= self.settings.exchanges + self.settings.every
        if not is_time and not self._crowded_out(question, self.summary):
            return 0
        longest = max(self.summary, STAND_IN * self.settings.max_words, key=len)
        beyond = last_exchanges(self.turns, self.settings.exchanges)
        return max(beyond, self._crowded_out(question, longest))

    def _crowded_out(self, question: Message, summary: str) -> int:
        """Return how many turns there is no room for beside a summary."""
        parts = self._parts(question, self.turns, summary)
        try:
            return parts.start(parts.fitting(self.fits))
        except TooLong:
            return 0


def first_words(text: str, n: int) -> str:
    """Return a text of n words at most, in one line; words are as long as words are, whatever it holds."""
    words = [word[:MAX_WORD] for word in text.split()]
    return " ".join(words if len(words) <= n else [*words[:n], "..."])

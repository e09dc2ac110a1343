"""Which memory an agent gets: the one of the preset, else its class's own, else the full history."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.agents.memories.managed import Managed, Window
from engine.agents.memories.ranking import Cosine, Embed, Relevance, bm25
from engine.agents.memories.retrieval import Stream
from engine.agents.memories.settings import (
    AnyMemory,
    FullHistory,
    Retrieval,
    RunningSummary,
    SlidingWindow,
)
from engine.agents.memories.summary import Summary
from engine.agents.memory import Memory
from engine.models.token_count import ByteBound, TokenCounter

if TYPE_CHECKING:
    from engine.agents.agent import Agent
    from engine.models.llama_cpp.vocabulary import VocabularyCounter


def embedder(path: str) -> Embed:
    """Return what computes embeddings with a GGUF file, which is loaded with the first text.

    Raises ModelError.
    """
    from engine.models.llama_cpp.embedder import LlamaEmbedder

    return LlamaEmbedder(path)


def vocabulary_counter(path: str) -> VocabularyCounter:
    """Return what counts tokens by the vocabulary of a GGUF file, which is loaded with the first count."""
    from engine.models.llama_cpp.vocabulary import VocabularyCounter

    return VocabularyCounter(path)


class Memories:
    """Makes the memories of the agents that use one model."""

    def __init__(
        self,
        chosen: AnyMemory | None = None,
        counter: TokenCounter | None = None,
        embedder: Callable[[str], Embed] = embedder,
    ) -> None:
        """`chosen` is the preset's; `counter` counts tokens as the model does, bytes bound them if None.

        `embedder` makes what computes embeddings out of `embedding_path`.
        """
        self._chosen = chosen
        self._counter = counter or ByteBound()
        self._by_file = lru_cache(maxsize=None)(vocabulary_counter)
        self._cosine = lru_cache(maxsize=None)(lambda path: Cosine(embedder(path)))

    def of(self, agent: Agent) -> Memory:
        """Make an agent's memory."""
        settings = self._chosen or agent.remembers
        if settings is None:
            return Memory(agent.world.shared)
        counter = self._counter_of(settings)
        match settings:
            case FullHistory(budget_tokens=None):
                return Memory(agent.world.shared)
            case FullHistory():
                return Managed(agent, settings, counter)
            case SlidingWindow():
                return Window(agent, settings, counter)
            case RunningSummary():
                return Summary(agent, settings, counter)
            case Retrieval():
                return Stream(agent, settings, counter, self._relevance(settings))

    def _counter_of(self, settings: AnyMemory) -> TokenCounter:
        """The model's own, if it has one; for the preset's memory there is one already."""
        if settings is self._chosen or not settings.vocabulary or not isinstance(self._counter, ByteBound):
            return self._counter
        return self._by_file(settings.vocabulary)

    def _relevance(self, settings: Retrieval) -> Relevance:
        return bm25 if settings.relevance == "lexical" else self._cosine(settings.embedding_path)

    def taken_over(self, agent: Agent, memory: Memory) -> Memory:
        """Make a memory in place of another one: a branch may have another kind."""
        made = self.of(agent)
        made.turns = memory.turns
        if type(made) is type(memory):
            made.restore(memory.kept)
        return made

"""What the agents of a run remember by: the preset's memory, and what counts the tokens of their model."""

from __future__ import annotations

from collections.abc import Mapping

from engine.agents.memories.making import Memories, embedder, vocabulary_counter
from engine.agents.memories.settings import AnyMemory, Retrieval
from engine.models.settings import LlamaCpp, ModelSettings
from engine.models.token_count import ByteBound, TokenCounter


def memories_of(models: Mapping[str, ModelSettings], chosen: AnyMemory | None) -> dict[str, Memories]:
    """Return what makes the memories of the agents that use each model, by its name.

    What a memory of the preset counts tokens with is loaded now, in the process that workers are forked from.
    Raises ModelError, also for embeddings that there can be none of.
    """
    if isinstance(chosen, Retrieval) and chosen.relevance == "embedding":
        embedder(chosen.embedding_path)
    return {name: Memories(chosen, _counter(model, chosen)) for name, model in models.items()}


def _counter(model: ModelSettings, chosen: AnyMemory | None) -> TokenCounter:
    named = chosen.vocabulary if chosen else None
    file = model.path if isinstance(model, LlamaCpp) else named
    if file is None:
        return ByteBound()
    counter = vocabulary_counter(file)
    if chosen:
        counter.load()
    return counter

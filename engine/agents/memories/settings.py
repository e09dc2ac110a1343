"""The `[memory]` table of a preset: one struct a kind, told apart by `kind`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Weight = Annotated[float, Meta(ge=0, le=1000)]


class MemorySettings(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """What every kind has."""

    budget_tokens: Annotated[int, Meta(ge=32)] | None = None
    """Most tokens of a prompt, rules and question included; what does not fit is left out and counted. Those
    of llama_cpp are counted with the model's own vocabulary, those of other models by an upper bound, unless
    `vocabulary` is given."""
    vocabulary: Annotated[str, Meta(min_length=1)] | None = None
    """A GGUF file, with or without weights, whose vocabulary and chat template are those of the model; for
    other models than those of llama_cpp, which bring their own."""


class FullHistory(MemorySettings, frozen=True, kw_only=True, tag="full"):
    """Everything said so far is in each prompt; with a budget, the oldest exchanges go."""


class SlidingWindow(MemorySettings, frozen=True, kw_only=True, tag="window"):
    """The last exchanges are in each prompt, older ones are forgotten."""

    exchanges: Annotated[int, Meta(ge=0, le=100_000)] = 4
    """Exchanges (what was asked, and the reply) that are remembered."""


class RunningSummary(MemorySettings, frozen=True, kw_only=True, tag="summary"):
    """The last exchanges are in each prompt, and a summary of the older ones that the model has written."""

    exchanges: Annotated[int, Meta(ge=1, le=100_000)] = 2
    """Exchanges that are kept word for word."""
    every: Annotated[int, Meta(ge=1, le=100_000)] = 2
    """So many exchanges more are gathered before the model is asked for a new summary; a budget that is full
    has it asked at once."""
    max_words: Annotated[int, Meta(ge=5, le=5000)] = 80
    """Longest summary; what the model writes beyond that is cut."""


class Retrieval(MemorySettings, frozen=True, kw_only=True, tag="retrieval"):
    """The last exchanges are in each prompt, and of the older ones those that score highest.

    A score is the weighted sum of recency, importance and relevance to the question, each scaled from 0 to 1
    over all that is remembered (Park et al. 2023, https://arxiv.org/abs/2304.03442, section 4.1).
    """

    exchanges: Annotated[int, Meta(ge=0, le=100_000)] = 1
    """Exchanges that are kept word for word whatever they score."""
    recall: Annotated[int, Meta(ge=1, le=1000)] = 5
    """How many of the older ones are recalled."""
    decay: Annotated[float, Meta(gt=0, le=1)] = 0.9
    """Recency is this to the power of the rounds since something was last recalled."""
    importance: Literal["given", "model"] = "given"
    """Importance from 1 to 10: as the scenario gives it, 5 where it gives none; or as the model rates it, in
    a call of its own for everything that gets old."""
    relevance: Literal["lexical", "embedding"] = "lexical"
    """How like the question something is: by the words they share (BM25), or by the cosine of their
    embeddings, which each worker computes with `embedding_path`."""
    embedding_path: str = "embedded"
    """A GGUF file for embeddings, or "embedded" for the small model that comes along."""
    recency_weight: Weight = 1.0
    """Weight of recency in the sum."""
    importance_weight: Weight = 1.0
    """Weight of importance in the sum."""
    relevance_weight: Weight = 1.0
    """Weight of relevance in the sum."""


AnyMemory = FullHistory | SlidingWindow | RunningSummary | Retrieval

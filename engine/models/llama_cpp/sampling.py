"""From logits to tokens: one distribution, from which any number of requests draw, each by its own number.

As in vLLM, temperature comes first, then min_p, top_k and top_p.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.draws import mix, uniforms
from engine.errors import ModelError
from engine.models.protocol import Sampling

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.integer[Any]]


class Distribution:
    """Token ids with running sums of their weights."""

    def __init__(self, ids: Ids | None, weights: Floats) -> None:
        """`ids` None stands for all tokens in order."""
        self._ids = ids
        self._sums = np.cumsum(weights, dtype=np.float64)

    def draw(self, numbers: npt.NDArray[np.float64]) -> list[int]:
        """Return the token at each number from [0, 1), by inverting the distribution function."""
        at = np.searchsorted(self._sums, numbers * self._sums[-1], side="right")
        at = np.minimum(at, len(self._sums) - 1)  # a product may round up to the whole sum
        tokens: list[int] = (at if self._ids is None else self._ids[at]).tolist()
        return tokens


def distribution(logits: Floats, sampling: Sampling, allowed: Ids | None = None) -> Distribution:
    """Return how the next token is distributed over the allowed ones (all, if None). Raises ModelError."""
    chosen = logits if allowed is None else logits[allowed]
    best = int(chosen.argmax())
    if not np.isfinite(chosen[best]):
        raise ModelError("the model computed no usable probabilities for the next token")
    if sampling.temperature == 0:
        return Distribution(np.array([best if allowed is None else allowed[best]]), np.ones(1, np.float32))
    weights = np.exp((chosen - chosen[best]) / np.float32(sampling.temperature))
    kept = _kept(weights, sampling)
    if kept is None:
        return Distribution(allowed, weights)
    return Distribution(kept if allowed is None else allowed[kept], weights[kept])


def _kept(weights: Floats, sampling: Sampling) -> Ids | None:
    """Indices that min_p, top_k and top_p leave, likeliest first; None for all."""
    kept: Ids | None = None
    if sampling.min_p > 0:
        kept = np.flatnonzero(weights >= sampling.min_p)  # the largest weight is 1
    if 0 < sampling.top_k < (len(weights) if kept is None else len(kept)):
        pool = weights if kept is None else weights[kept]
        top = np.argpartition(-pool, sampling.top_k - 1)[: sampling.top_k]
        kept = top if kept is None else kept[top]
    if sampling.top_p < 1:
        pool = weights if kept is None else weights[kept]
        order = np.argsort(-pool, kind="stable")
        sums = np.cumsum(pool[order], dtype=np.float64)
        order = order[: int(np.searchsorted(sums, sampling.top_p * sums[-1])) + 1]
        kept = order if kept is None else kept[order]
    return kept


def log_probability(logits: Floats, token: int, allowed: Ids | None = None) -> float:
    """Return ln P(token) at temperature 1 among the allowed tokens (all, if None)."""
    chosen = logits if allowed is None else logits[allowed]
    most = chosen.max()
    return float(logits[token] - most - np.log(np.exp(chosen - most).sum(dtype=np.float64)))


def draws(seed: int, keys: Sequence[int], position: int) -> npt.NDArray[np.float64]:
    """Return each request's number for the token at a position of its reply.

    It depends on the run's seed, the request's key and the position alone, never on order or company.
    """
    return uniforms(mix(seed, position), np.asarray(keys, np.int64))

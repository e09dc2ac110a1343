"""Tokens of the whole preset: more agents, later rounds, longer histories."""

from __future__ import annotations

import numpy as np

from engine.forecast.draws import N_DRAWS, Draws
from engine.forecast.measurement import CACHED, CALLS, IN, Counts
from engine.models.settings import LlamaCpp, ModelSettings


def later_rounds(means: Draws, n_rounds: int, settings: ModelSettings) -> Draws:
    """Continue each draw to the last round: prompts grow along a line, calls and replies stay as they were.

    A prompt never has more tokens than the model's context, where that is known.
    """
    seen = means.shape[1]
    rounds = np.arange(1, n_rounds + 1)
    result = np.repeat(means.mean(axis=1, keepdims=True), n_rounds, axis=1)
    result[:, : min(seen, n_rounds)] = means[:, :n_rounds]
    if seen > 1:
        for column in (IN, CACHED):
            slope, level = np.polyfit(np.arange(1, seen + 1), means[:, :, column].T, 1)
            line = level[:, None] + np.maximum(0.0, slope)[:, None] * rounds
            result[:, seen:, column] = line[:, seen:]
    if isinstance(settings, LlamaCpp):
        most = result[:, :, CALLS] * settings.context_tokens
        result[:, :, IN] = np.minimum(result[:, :, IN], most)
    result[:, :, CACHED] = np.minimum(result[:, :, CACHED], result[:, :, IN])
    return result


def spread(counts: Counts, n_agents: float, n_rounds: int, rng: np.random.Generator) -> Draws:
    """Return how much the sum over that many agents may differ from their number times the mean."""
    seen = counts.shape[1]
    each = counts.sum(axis=1).std(axis=0) * n_rounds / seen
    draws: Draws = rng.standard_normal((N_DRAWS + 1, 1)) * each * np.sqrt(n_agents)
    draws[0] = 0.0
    return draws

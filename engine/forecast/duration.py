"""How long the whole preset takes.

A language model takes time for every token that it has to compute, at the speed of the sample. What answers
any number of requests at once (dummies, policies) takes as long for many as for few, and the engine its own
time for each turn. Rate limits are a lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.forecast.draws import Draws, mean_over_rounds
from engine.forecast.measurement import CACHED, CALLS, IN, OUT, Measurement
from engine.machine import n_cores
from engine.models.settings import Dummy, ModelSettings, Policy
from engine.preset.schema import Preset

TURN_S = 25e-6
"""Processor time of the engine for a turn of a model that waits for nobody: 23 us in a run of a million."""


def seconds_of(
    preset: Preset,
    measured: Measurement,
    totals: Mapping[str, Draws],
    settings: Mapping[str, ModelSettings],
    rng: np.random.Generator,
) -> Draws:
    """Return draws of the whole run's time."""
    n_rounds = preset.scenario.rounds
    if all(isinstance(settings[model], Dummy | Policy) for model in totals):
        n_workers = preset.engine.workers or n_cores()
        turns = preset.population.size * n_rounds
        seconds = mean_over_rounds(measured.seconds, rng) * n_rounds + turns * TURN_S / n_workers
    else:
        speed = mean_over_rounds(measured.seconds / _work(measured.totals), rng)
        seconds = speed * _work(np.sum(list(totals.values()), axis=0))
    for model, total in totals.items():
        seconds = np.maximum(seconds, _shortest(total, settings[model]))
    return measured.load_s + seconds


def _work(counts: Draws) -> Draws:
    """Return the tokens that a model has to compute; calls, if it does not say."""
    tokens = counts[..., IN] - counts[..., CACHED] + counts[..., OUT]
    return np.maximum(1.0, tokens if tokens.any() else counts[..., CALLS])


def _shortest(total: Draws, settings: ModelSettings) -> Draws:
    """Return the seconds that the rate limits of a model ask for."""
    calls, tokens = settings.requests_per_minute or np.inf, settings.tokens_per_minute or np.inf
    return 60 * np.maximum(total[:, CALLS] / calls, (total[:, IN] + total[:, OUT]) / tokens)

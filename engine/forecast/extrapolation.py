"""From a sample to the whole preset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.forecast.draws import Draws, Figure, figure, mean_over_agents, widened
from engine.forecast.duration import seconds_of
from engine.forecast.measurement import CACHED, CALLS, IN, OUT, Measurement, slice_sizes
from engine.forecast.tokens import later_rounds, spread
from engine.models.settings import ModelSettings
from engine.models.spent import Spent, cost
from engine.preset.schema import DEFAULT_MODEL, Preset

MILLION = 1_000_000
OTHER_PROMPTS = 0.05
"""Agents beyond the sample read other texts: a player's number of six digits makes a prompt of 110 tokens, in
which the first players had two digits, 4 % longer. No interval that depends on prompts is narrower."""


@dataclass(frozen=True)
class Use:
    """What will be used of one model, or of all together."""

    calls: Figure
    tokens_in: Figure
    tokens_out: Figure
    tokens_cached: Figure
    cost: Figure | None
    """None without prices, or with prices in several currencies."""
    currency: str


@dataclass(frozen=True)
class Forecast:
    """What a run will take."""

    seconds: Figure
    total: Use
    models: dict[str, Use]
    prompt_tokens: list[float]
    """Of a prompt in each round, on average."""


def forecast(preset: Preset, sample: Preset, measured: Measurement, seed: int = 1) -> Forecast:
    """Extrapolate from `measured`, which has a round at least."""
    rng = np.random.default_rng(seed)
    settings: dict[str, ModelSettings] = {DEFAULT_MODEL: preset.model, **preset.models}
    sizes, sampled = slice_sizes(preset), slice_sizes(sample)
    unseen = sizes[sampled == 0].sum()
    totals: dict[str, Draws] = {}
    prompts = np.zeros((preset.scenario.rounds, 2))
    for (number, model), counts in measured.counts.items():
        n_agents = sizes[number] + unseen * sampled[number] / sampled.sum()
        rounds = later_rounds(mean_over_agents(counts, rng), preset.scenario.rounds, settings[model])
        total = n_agents * rounds.sum(axis=1) + spread(counts, n_agents, preset.scenario.rounds, rng)
        totals[model] = np.maximum(0.0, totals.get(model, 0.0) + total)
        prompts += n_agents * rounds[0][:, [IN, CALLS]]
    unknown = OTHER_PROMPTS if sample.population.size < preset.population.size else 0.0
    return Forecast(
        seconds=figure(seconds_of(preset, measured, totals, settings, rng)),
        total=_use(list(totals.values()), [settings[model] for model in totals], unknown),
        models={model: _use([total], [settings[model]], unknown) for model, total in totals.items()},
        prompt_tokens=(prompts[:, 0] / np.maximum(1.0, prompts[:, 1])).tolist(),
    )


def _use(totals: Sequence[Draws], settings: Sequence[ModelSettings], unknown: float) -> Use:
    """Add up what several models are used for; `unknown` is a share of prompts that may be otherwise."""
    total = np.sum(totals, axis=0)
    money = [_money(one, model) for one, model in zip(totals, settings, strict=True)]
    priced = [(one, model.currency) for one, model in zip(money, settings, strict=True) if one is not None]
    single = len({currency for _, currency in priced}) == 1
    return Use(
        calls=figure(total[:, CALLS]),
        tokens_in=widened(figure(total[:, IN]), unknown),
        tokens_out=figure(total[:, OUT]),
        tokens_cached=widened(figure(total[:, CACHED]), unknown),
        cost=widened(figure(np.sum([one for one, _ in priced], axis=0)), unknown) if single else None,
        currency=priced[0][1] if single else "",
    )


def _money(total: Draws, model: ModelSettings) -> Draws | None:
    """Return draws of what a model's use costs, None if it has no prices."""

    def price(*tokens: int) -> float | None:
        return cost(model, Spent(0, *tokens))

    fresh, reply, cached = price(MILLION), price(0, MILLION), price(MILLION, 0, MILLION)
    if fresh is None or reply is None or cached is None:
        return None
    n_fresh = total[:, IN] - total[:, CACHED]
    return (n_fresh * fresh + total[:, OUT] * reply + total[:, CACHED] * cached) / MILLION

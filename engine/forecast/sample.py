"""The sample: a few agents of a preset in its first rounds."""

from __future__ import annotations

from math import ceil

import msgspec

from engine.errors import UsageError
from engine.preset.schema import Budget, Journal, Preset

ROUNDS = 3
"""Enough to see a history grow: the first round has none, and the third grows by what the second one did."""


def sample_of(preset: Preset, n_agents: int) -> Preset:
    """Return the preset of the sample.

    Groups keep their size as far as the sample has room for one; nothing comes from an answer cache. Of the
    budgets, those of tokens and money stay. Raises UsageError if the scenario does not go with so few agents.
    """
    size, groups = preset.population.size, preset.scenario.groups
    group_size = ceil(size / groups)
    n_groups = max(1, min(groups, n_agents // group_size))
    n = min(size, n_agents if n_groups == 1 else n_groups * group_size)
    scenario = msgspec.structs.replace(
        preset.scenario, rounds=min(preset.scenario.rounds, ROUNDS), groups=n_groups
    )
    for key, what, allowed in scenario.problems(n):
        raise UsageError(
            f"a sample of {n} agents is not possible: {key}: {what}",
            where="--sample",
            hint=f"allowed: {allowed}" if allowed else "",
        )
    replace = msgspec.structs.replace
    return replace(
        preset,
        scenario=scenario,
        population=replace(preset.population, size=n),
        model=replace(preset.model, answer_cache=False),
        models={name: replace(model, answer_cache=False) for name, model in preset.models.items()},
        budget=Budget(tokens=preset.budget.tokens, money=preset.budget.money),
        journal=Journal(transcripts="none"),
    )

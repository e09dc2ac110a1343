"""Whether the tables of a preset, each right by itself, agree with one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine.errors import ModelError
from engine.models.settings import Dummy, Policy
from engine.preset.problems import Problem
from engine.preset.wording import nearest, one_line, one_of, show
from engine.scenarios import registry

Tables = Mapping[str, Any]
"""The structs of the tables that are right by themselves, by name."""


def disagreements(tables: Tables) -> Iterator[Problem]:
    """Yield what the types of the schema cannot say."""
    yield from _fallback(tables)
    yield from _scenario(tables)
    yield from _policy(tables)
    yield from _latency(tables)


def _fallback(tables: Tables) -> Iterator[Problem]:
    answers = tables.get("answers")
    if answers and answers.on_failure == "fallback" and answers.fallback is None:
        yield Problem(
            path=("answers", "on_failure"),
            what='"fallback" needs answers.fallback, which is missing',
            allowed="answers.fallback = a number or text",
        )


def _scenario(tables: Tables) -> Iterator[Problem]:
    scenario, population = tables.get("scenario"), tables.get("population")
    if scenario and population:
        for key, what, allowed in scenario.problems(population.size):
            yield Problem(path=("scenario", key), what=one_line(what, 200), allowed=one_line(allowed, 200))


def _policy(tables: Tables) -> Iterator[Problem]:
    scenario, model = tables.get("scenario"), tables.get("model")
    if not scenario or not isinstance(model, Policy):
        return
    name = scenario.__struct_config__.tag
    offered = sorted(registry.find(name).policies)
    if not offered:
        yield Problem(path=("model", "backend"), what=f"scenario {name} has no policies")
    elif model.policy not in offered:
        yield Problem(
            path=("model", "policy"),
            what=f"{show(model.policy)} is not a policy of scenario {name}",
            allowed=one_of(map(show, offered)),
            nearest=nearest(model.policy, offered),
        )


def _latency(tables: Tables) -> Iterator[Problem]:
    model = tables.get("model")
    if isinstance(model, Dummy) and isinstance(model.latency_s, dict):
        from engine.models.dummy import latency  # brings scipy along

        try:
            latency(model.latency_s)
        except ModelError as error:
            yield Problem(path=("model", "latency_s"), what=error.what, allowed=error.hint)

"""Whether the tables of a preset, each right by itself, agree with one another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from engine.errors import ModelError
from engine.keys import MAX_AGENTS
from engine.models.settings import Dummy, Policy
from engine.population.settings import Births, Population
from engine.preset.check import faults
from engine.preset.prices import price_problems
from engine.preset.problems import Problem
from engine.preset.schema import DEFAULT_MODEL
from engine.preset.wording import Path, nearest, one_line, one_of, show
from engine.scenarios import registry

Tables = Mapping[str, Any]
"""The structs of the tables that are right by themselves, by name."""


def disagreements(tables: Tables) -> Iterator[Problem]:
    """Yield what the types of the schema cannot say."""
    yield from _fallback(tables)
    yield from _scenario(tables)
    yield from _population(tables)
    for path, model in _models(tables):
        yield from _policy(tables, path, model)
        yield from _latency(path, model)
    yield from _slices(tables)
    yield from price_problems(_used_models(tables), tables.get("budget"))


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
        for path, condition in scenario.conditions():
            yield from _condition(tables, condition, ("scenario", *path))


def _population(tables: Tables) -> Iterator[Problem]:
    population, scenario = tables.get("population"), tables.get("scenario")
    if population and scenario:
        yield from _births(population, scenario)
    if population and msgspec.structs.replace(population, size=1, births=Births()) != Population(size=1):
        from engine.population.check import faults as population_faults  # brings numpy along

        for path, what, allowed, near in population_faults(population):
            yield Problem(path=("population", *path), what=what, allowed=allowed, nearest=near)
        if population.persona and population.persona.writer:
            where = ("population", "persona", "writer", "model")
            yield from _model_name(tables, population.persona.writer.model, where)


def _births(population: Population, scenario: Any) -> Iterator[Problem]:
    n, where = population.births.per_group, ("population", "births", "per_group")
    if n and not registry.find(scenario.scenario_name).dynamic:
        yield Problem(path=where, what=f"nobody is born in scenario {scenario.scenario_name}", allowed="0")
    elif population.size + n * scenario.groups > MAX_AGENTS:
        most = (MAX_AGENTS - population.size) // scenario.groups
        yield Problem(path=where, what=f"{n:,} is more than there are numbers for", allowed=f"0 to {most:,}")


def _models(tables: Tables) -> Iterator[tuple[Path, Any]]:
    yield ("model",), tables.get("model")
    for name, model in (tables.get("models") or {}).items():
        yield ("models", name), model


def _used_models(tables: Tables) -> list[tuple[Path, Any]]:
    used = {DEFAULT_MODEL, *(part.model for part in tables.get("slices") or ())}
    population = tables.get("population")
    if population and population.persona and population.persona.writer:
        used.add(population.persona.writer.model)
    return [
        (path, model)
        for path, model in _models(tables)
        if model is not None and (path[-1] in used or len(path) == 1)
    ]


def _slices(tables: Tables) -> Iterator[Problem]:
    parts = tables.get("slices") or ()
    total = sum(part.share or 0.0 for part in parts if not part.where)
    if total > 1 + 1e-9:
        yield Problem(path=("slices",), what=f"the shares add up to {total:g}", allowed="1 at most")
    names = [part.name for part in parts]
    for number, part in enumerate(parts, start=1):
        where = ("slices", str(number))
        if names.count(part.name) > 1:
            yield Problem(path=(*where, "name"), what=f"{show(part.name)} is the name of another slice")
        if part.where:
            yield from _condition(tables, part.where, (*where, "where"))
        elif part.share is None:
            yield Problem(path=(*where, "share"), what="missing", allowed="a share, or where = a condition")
        yield from _model_name(tables, part.model, (*where, "model"))
        yield from _overrides(tables, part.scenario, (*where, "scenario"))


def _condition(tables: Tables, condition: str, path: Path) -> Iterator[Problem]:
    if population := tables.get("population"):
        from engine.population.check import condition_faults  # brings numpy along

        for _, what, allowed, near in condition_faults(population, condition):
            yield Problem(path=path, what=what, allowed=allowed, nearest=near)


def _model_name(tables: Tables, name: str, path: Path) -> Iterator[Problem]:
    known = [DEFAULT_MODEL, *(tables.get("models") or {})]
    if name not in known and "models" in tables:
        yield Problem(
            path=path,
            what=f"there is no model {show(name)}",
            allowed=one_of(map(show, known)),
            nearest=nearest(name, known),
        )


def _overrides(tables: Tables, changed: Mapping[str, object], path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the settings that a slice changes."""
    scenario = tables.get("scenario")
    if scenario and changed:
        known = msgspec.to_builtins(scenario)
        table = {key: value for key, value in {**known, **changed}.items() if value is not None}
        yield from faults(type(scenario), table, path)
        for key in sorted(scenario.same_for_all & changed.keys()):
            yield Problem(path=(*path, key), what=f"{key} is the same for all slices")


def _policy(tables: Tables, path: Path, model: Any) -> Iterator[Problem]:
    scenario = tables.get("scenario")
    if not scenario or not isinstance(model, Policy):
        return
    name = scenario.__struct_config__.tag
    offered = sorted(registry.find(name).policies)
    if not offered:
        yield Problem(path=(*path, "backend"), what=f"scenario {name} has no policies")
    elif model.policy not in offered:
        yield Problem(
            path=(*path, "policy"),
            what=f"{show(model.policy)} is not a policy of scenario {name}",
            allowed=one_of(map(show, offered)),
            nearest=nearest(model.policy, offered),
        )
    else:
        yield from _parameters(registry.find(name).policy_parameters.get(model.policy, ()), path, model)


def _parameters(taken: Collection[str], path: Path, model: Policy) -> Iterator[Problem]:
    for key in sorted(model.parameters.keys() - set(taken)):
        yield Problem(
            path=(*path, "parameters", key),
            what=f"policy {model.policy} has no parameter {show(key)}",
            allowed=one_of(map(show, taken)) if taken else "none",
            nearest=nearest(key, taken),
        )


def _latency(path: Path, model: Any) -> Iterator[Problem]:
    if isinstance(model, Dummy) and isinstance(model.latency_s, dict):
        from engine.models.dummy import latency  # brings scipy along

        try:
            latency(model.latency_s)
        except ModelError as error:
            yield Problem(path=(*path, "latency_s"), what=error.what, allowed=error.hint)

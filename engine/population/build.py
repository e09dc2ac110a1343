"""A population out of its settings and a seed, the same on every machine and in every process."""

from __future__ import annotations

import numpy as np

from engine.population import households, report
from engine.population.check import faults
from engine.population.column import Column, Numeric
from engine.population.constraints import Enforcement, Rule
from engine.population.expression import read
from engine.population.faults import PopulationError
from engine.population.functions import Frame
from engine.population.people import People
from engine.population.plan import Plan, plan
from engine.population.report import Report
from engine.population.settings import Population, Text
from engine.population.sources import Source, Units
from engine.population.template import Template


def build(settings: Population, seed: int) -> People:
    """Build a population. Raises PopulationError."""
    for fault in faults(settings):
        raise PopulationError(fault.what, *fault.path, hint=fault.allowed)
    made = _Building(settings, seed, plan(settings, seed))
    made.build()
    order = [*(households.NAMES if settings.households else ()), *made.columns]
    named = dict.fromkeys(name for name in [*settings.attributes, *order] if name in made.columns)
    columns = {name: made.columns.pop(name).compact() for name in named}
    for column in columns.values():
        column.lock()
    texts = {name: Template(a.template) for name, a in settings.attributes.items() if isinstance(a, Text)}
    persona = Template(settings.persona.template) if settings.persona else None
    return People(settings.size, columns, made.report, texts, persona)


class _Building:
    def __init__(self, settings: Population, seed: int, plan: Plan) -> None:
        self.columns: dict[str, Column] = {}
        self.report = Report(settings.size)
        self._settings = settings
        self._seed = seed
        self._plan = plan
        self._rules = [
            Rule(number, read(constraint.require), constraint.reason)
            for number, constraint in enumerate(settings.constraints, start=1)
        ]

    def build(self) -> None:
        starts = self._households() if self._settings.households else None
        self._make(self._plan.of_people, self._settings.size, starts)
        if self._plan.n_dropped:
            self.report.notes.append(f"{self._plan.n_dropped:,} records of the microdata had values missing")

    def _households(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Make what households have, and give it to their members; return the first member of each."""
        assert self._settings.households is not None
        grouping = households.draw(self._settings.households, self._settings.size, self._seed)
        self.report.comparisons.append(report.households(self._settings.households, grouping.sizes))
        n = len(grouping.sizes)
        self.columns = {
            "household": Numeric(np.arange(n), "integer"),
            "household_size": Numeric(grouping.sizes, "integer"),
        }
        self._make(self._plan.of_households, n, None)
        self.columns = {name: column.take(grouping.of_person) for name, column in self.columns.items()}
        self.columns |= grouping.columns()
        return grouping.starts

    def _make(
        self, sources: list[Source], n: int, starts: np.ndarray[tuple[int], np.dtype[np.int64]] | None
    ) -> None:
        units = Units(np.arange(n), self.columns, Frame(n, starts))
        enforcement = Enforcement(units, self.columns, self._seed)
        self._enforce(enforcement)
        for source in sources:
            self.columns |= source.draw(units)
            enforcement.built(source)
            self._enforce(enforcement)
        if enforcement.n_moved:
            moved = f"{enforcement.n_moved:,} values were drawn again or exchanged to meet the constraints"
            self.report.notes.append(moved)
        for source in sources:
            report.add(self.report, source, self.columns)

    def _enforce(self, enforcement: Enforcement) -> None:
        """Make hold what is about attributes that are all there."""
        for rule in list(self._rules):
            if set(rule.expression.names) <= self.columns.keys():
                self._rules.remove(rule)
                enforcement.enforce(rule)

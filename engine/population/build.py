"""A population out of its settings and a seed, the same on every machine and in every process."""

from __future__ import annotations

import numpy as np
import psutil

from engine.population import households, report
from engine.population.check import faults
from engine.population.column import Column, Numeric, coded
from engine.population.constraints import Enforcement, Rule
from engine.population.expression import read
from engine.population.faults import PopulationError
from engine.population.functions import Frame
from engine.population.network import build as network
from engine.population.network.arrange import best_order
from engine.population.network.graph import Graph, union
from engine.population.network.settings import EdgeList
from engine.population.people import People
from engine.population.plan import Plan, plan
from engine.population.report import Report
from engine.population.settings import Population, Text
from engine.population.sources import Source, Units
from engine.population.streams import Ints
from engine.population.template import Template

BYTES_PER_VALUE = 12
"""What a population needs while it is built, by people and attributes; with four attributes more for what is
under way, it is measured at 140 MB for a million people with 10."""


def build(settings: Population, seed: int) -> People:
    """Build a population. Raises PopulationError. The arrays of the result are read-only."""
    for fault in faults(settings):
        raise PopulationError(fault.what, *fault.path, hint=fault.allowed)
    _check_memory(settings)
    made = _Building(settings, seed, plan(settings, seed))
    made.build()
    graphs, order = _networks(settings, made.columns, seed)
    columns = {name: made.columns.pop(name) for name in _in_order(settings, made.columns)}
    for name, column in columns.items():
        columns[name] = (column if order is None else column.take(order)).compact()
        columns[name].lock()
    texts = {name: Template(a.template) for name, a in settings.attributes.items() if isinstance(a, Text)}
    persona = Template(settings.persona.template) if settings.persona else None
    return People(settings.size, columns, made.report, texts, persona, graphs, union(list(graphs.values())))


def needed_bytes(settings: Population) -> int:
    """Return about how much memory a population takes while it is built."""
    n_attributes = len(settings.attributes) + sum(len(table.attributes) for table in settings.tables)
    return settings.size * BYTES_PER_VALUE * (n_attributes and n_attributes + 4)


def _check_memory(settings: Population) -> None:
    """Raise PopulationError if the population would not fit into memory."""
    needed, free = needed_bytes(settings), psutil.virtual_memory().available
    if needed > free:
        raise PopulationError(
            f"{settings.size:,} people with their attributes need about {needed / 1e9:,.0f} GB of memory; "
            f"{free / 1e9:,.0f} GB are free",
            "size",
            hint="a smaller population, or fewer attributes",
        )


def _in_order(settings: Population, columns: dict[str, Column]) -> list[str]:
    """Return the attributes in the preset's order, then those that it does not declare."""
    declared = [name for name in settings.attributes if name in columns]
    return list(dict.fromkeys([*declared, *columns]))


def _networks(
    settings: Population, columns: dict[str, Column], seed: int
) -> tuple[dict[str, Graph], Ints | None]:
    """Return the networks, and the order that people are put into for their sake."""
    graphs = {
        name: network.build(name, s, columns, settings.size, seed) for name, s in settings.networks.items()
    }
    if settings.arrange == "drawn" or _go_by_number(settings):
        return graphs, None
    names = dict.fromkeys(name for s in settings.networks.values() for name in network.attributes_of(s))
    unit = coded(columns["household"])[0] if settings.households else np.arange(settings.size)
    whole = union(list(graphs.values()))
    order = best_order(whole, columns, list(names), unit) if whole else None
    if order is not None:
        graphs = {name: graph.renumbered(order) for name, graph in graphs.items()}
    return graphs, order


def _go_by_number(settings: Population) -> bool:
    return any(isinstance(s, EdgeList) and s.key is None for s in settings.networks.values())


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

    def _households(self) -> Ints:
        """Make what households have, and give it to their members; return the first member of each."""
        assert self._settings.households is not None
        grouping = households.draw(self._settings.households, self._settings.size, self._seed)
        self.report.comparisons.append(report.households(self._settings.households, grouping.sizes))
        n = len(grouping.sizes)
        self.columns = {
            "household": Numeric(np.arange(n), "integer"),
            "household_size": Numeric(grouping.sizes, "integer"),
        }
        self._make(self._plan.of_households, n, None, of_people=False)
        self.columns = {name: column.take(grouping.of_person) for name, column in self.columns.items()}
        self.columns |= grouping.columns()
        return grouping.starts

    def _make(self, sources: list[Source], n: int, starts: Ints | None, *, of_people: bool = True) -> None:
        units = Units(np.arange(n), self.columns, Frame(n, starts))
        enforcement = Enforcement(units, self.columns, self._seed)
        self._enforce(enforcement, of_people)
        for source in sources:
            self.columns |= source.draw(units)
            enforcement.built(source)
            self._enforce(enforcement, of_people)
        if enforcement.n_moved:
            who = f"{enforcement.n_moved:,} {'people' if of_people else 'households'}"
            moved = f"{who} were drawn again, or exchanged values, to meet the constraints"
            self.report.notes.append(moved)
        for source in sources:
            report.add(self.report, source, self.columns)

    def _enforce(self, enforcement: Enforcement, of_people: bool) -> None:
        """Make hold what is about attributes that are all there."""
        for rule in list(self._rules):
            is_ready = set(rule.expression.names) <= self.columns.keys()
            if is_ready and (of_people or not rule.of_household):
                self._rules.remove(rule)
                enforcement.enforce(rule)

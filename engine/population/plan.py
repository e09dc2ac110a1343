"""By which sources attributes are made, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.population import records, tables
from engine.population.cells import Joint
from engine.population.column import Column, Kind
from engine.population.expression import read
from engine.population.fitting import AllRecords, OfTables
from engine.population.functions import Frame
from engine.population.order import ancestors, in_order
from engine.population.records import Records
from engine.population.settings import (
    AnyAttribute,
    Conditional,
    Distribution,
    Expression,
    FromMicrodata,
    FromTables,
    Population,
    Shares,
    Text,
)
from engine.population.sources import OfDistribution, OfExpression, OfShares, OfTable, Source, Units
from engine.population.tables import Figures


@dataclass(frozen=True)
class Plan:
    """The sources of what each household has, then of what each person has, in order."""

    of_households: list[Source]
    of_people: list[Source]
    n_dropped: int = 0
    """Records of the microdata that were left out."""


def plan(settings: Population, seed: int) -> Plan:
    """Return how to make a population's attributes; reads the files that it needs. Raises PopulationError."""
    sources = {name: source for name, a in settings.attributes.items() if (source := single(name, a, seed))}
    found = _records(settings, sources)
    groups = list(_joint(settings, seed, found))
    made = {name for source in groups for name in source.names}
    by_level: dict[str, list[Source]] = {"person": list(groups), "household": []}
    for name, source in sources.items():
        if name not in made:
            by_level[settings.attributes[name].per].append(source)
    return Plan(
        in_order(by_level["household"]), in_order(by_level["person"]), found.n_dropped if found else 0
    )


def single(name: str, attribute: AnyAttribute, seed: int) -> Source | None:
    """Return the source of an attribute that has one of its own. Raises BadExpression."""
    match attribute:
        case Shares():
            return OfShares(name, attribute, seed)
        case Distribution():
            return OfDistribution(name, attribute, seed)
        case Conditional():
            return OfTable(name, attribute, seed)
        case Expression():
            return OfExpression(name, read(attribute.expression), attribute.type)
        case FromMicrodata() | FromTables() | Text():
            return None


def _records(settings: Population, sources: Mapping[str, Source]) -> Records | None:
    """Read the microdata, and compute of each record those expressions that tables are about."""
    if settings.microdata is None:
        return None
    taken = {name: a for name, a in settings.attributes.items() if isinstance(a, FromMicrodata)}
    found = records.read(settings.microdata, taken)
    columns: dict[str, Column] = dict(found.columns)
    in_tables = {name for table in settings.tables for name in table.attributes}
    n = len(found)
    for source in ancestors(in_order(list(sources.values())), in_tables - columns.keys()):
        if isinstance(source, OfExpression):
            columns |= source.draw(Units(np.arange(n), columns, Frame(n)))
    return replace(found, columns=columns)


def _joint(settings: Population, seed: int, found: Records | None) -> Iterator[Source]:
    """Yield a source for each set of tables that have attributes in common, and one for the microdata."""
    kinds: dict[str, Kind] = {n: a.type for n, a in settings.attributes.items() if isinstance(a, FromTables)}
    of_records = set(found.columns) if found else set()
    groups = _connected(tables.read(settings.tables), of_records)
    with_records = [g for g in groups if of_records.intersection(a for table in g for a in table.attributes)]
    if found and settings.microdata:
        if settings.microdata.draw == "all":
            yield AllRecords(found)
        else:
            joint = Joint(with_records[0] if with_records else [], kinds, found)
            yield OfTables(joint, settings.fit, seed, is_random=settings.microdata.draw == "random")
    for group in groups:
        if group not in with_records:
            yield OfTables(Joint(group, kinds), settings.fit, seed, is_random=settings.fit.draw == "random")


def _connected(found: Sequence[Figures], of_records: set[str]) -> list[list[Figures]]:
    """Part tables into sets with attributes in common; all attributes of records count as one."""
    groups: list[tuple[set[str], list[Figures]]] = []
    for table in found:
        attributes = set(table.attributes)
        if attributes & of_records:
            attributes |= of_records
        touched = [group for group in groups if group[0] & attributes]
        groups = [group for group in groups if group not in touched]
        merged = attributes.union(*(group[0] for group in touched))
        groups.append((merged, sorted([*(t for g in touched for t in g[1]), table], key=lambda t: t.number)))
    return [group for _, group in groups]

"""The combinations of attributes that joint tables are about, and which records are of which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population.column import Column, Kind, coded
from engine.population.faults import PopulationError, listed, meant, quoted
from engine.population.raking import Margin, counted
from engine.population.records import Records
from engine.population.streams import Floats, Ints
from engine.population.tables import MAX_CELLS, Figures

Codes = Mapping[str, NDArray[Any]]
Labels = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Joint:
    """Tables that share attributes, or whose attributes are from microdata."""

    tables: Sequence[Figures]
    kinds: Mapping[str, Kind]
    """Types of the attributes other than categorical."""
    records: Records | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the tables, in order of appearance."""
        return tuple(dict.fromkeys(a for table in self.tables for a in table.attributes))

    @property
    def targets(self) -> list[Figures]:
        """The tables that have to be met."""
        return [table for table in self.tables if table.settings.use == "fit"]


@dataclass(frozen=True)
class Cells:
    """The combinations that people can have, with the weight of each before fitting."""

    labels: Labels
    codes: Codes
    """For each attribute, the code of each cell."""
    seed: Floats
    group: Ints
    """For each cell, the group of records that its people are made of."""

    def margin(self, table: Figures) -> Margin:
        """Return what a table, in shares, wants of the cells."""
        return Margin(table.of_cells(self.codes, self.labels), table.dense(self.labels).ravel())


def cells_of(joint: Joint) -> tuple[Cells, Ints]:
    """Return the cells, and each record's group. Raises PopulationError."""
    labels: dict[str, tuple[str, ...]] = {}
    for table in joint.tables:
        for name in table.attributes:
            labels.setdefault(name, table.categories(name))
    groups, known = _groups(joint, labels)
    weights = joint.records.weights if joint.records else np.ones(1)
    cells = _product(labels, known, counted(groups, weights, 0))
    for table in joint.tables:
        if table.settings.use == "seed":
            margin = cells.margin(table)
            cells.seed[:] *= margin.targets[margin.of_cell]
    if not cells.seed.sum() > 0:
        raise PopulationError("the tables to start from have no combination in common", "tables")
    return cells, groups


def _groups(joint: Joint, labels: Labels) -> tuple[Ints, Codes]:
    """Return the group of each record, those alike in the tables' attributes, and the codes of each group."""
    records = joint.records
    shared = [name for name in joint.attributes if records and name in records.columns]
    if not records or not shared:
        return np.zeros(len(records) if records else 1, dtype=np.int64), {}
    shape = [len(labels[name]) for name in shared]
    codes = [_translated(records.columns[name], name, labels[name], joint) for name in shared]
    found, groups = np.unique(np.ravel_multi_index(codes, shape), return_inverse=True)
    return groups, dict(zip(shared, np.unravel_index(found, shape), strict=True))


def _product(labels: Labels, known: Codes, weights: Floats) -> Cells:
    """Return the groups of records, each with every category of the attributes that records do not have."""
    others = [name for name in labels if name not in known]
    shape = [len(labels[name]) for name in others]
    n = len(weights) * int(np.prod(shape, dtype=float))
    if n > MAX_CELLS:
        what = f"{listed(labels)} have {n:,} combinations; {MAX_CELLS:,} are possible"
        raise PopulationError(what, "tables", hint="leave out attributes, or join categories")
    group, *inner = np.indices((len(weights), *shape)).reshape(1 + len(shape), -1)
    codes = {name: codes[group] for name, codes in known.items()} | dict(zip(others, inner, strict=True))
    return Cells(labels, codes, weights[group], group)


def _translated(column: Column, name: str, labels: tuple[str, ...], joint: Joint) -> NDArray[Any]:
    codes, words = coded(column)
    unknown = [word for word in words if word not in labels]
    if unknown:
        table = next(t for t in joint.tables if name in t.attributes)
        raise PopulationError(
            f"the microdata have {listed(unknown)} in {quoted(name)}, which {table.name} does not know",
            *table.path,
            hint=meant(unknown[0], labels),
        )
    return np.array([labels.index(word) for word in words])[codes]

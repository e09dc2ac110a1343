"""Tables of how many people there are of each kind, read and held against one another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population.column import label
from engine.population.faults import Fault, PopulationError, listed, meant, quoted
from engine.population.records import table_rows
from engine.population.settings import JointTable
from engine.population.streams import Floats

SUM_TOLERANCE = 1e-5
"""What shares may be short of 1 in all, as those of thirds with six digits are."""
MAX_CELLS = 4_000_000

Key = tuple[str, ...]
_WHOLE = {"share": 1.0, "percent": 100.0}


@dataclass(frozen=True)
class Figures:
    """A table as read: how many people, or which share of them, have which combination."""

    number: int
    """Its place in `[[population.tables]]`, from 1."""
    attributes: tuple[str, ...]
    values: Mapping[Key, float]
    settings: JointTable

    @property
    def name(self) -> str:
        """What messages and reports call it."""
        return f"table {self.number} ({' x '.join(self.attributes)})"

    @property
    def path(self) -> tuple[str, ...]:
        """Where it stands in the preset."""
        return ("tables", str(self.number))

    @property
    def total(self) -> float:
        """All figures together."""
        return math.fsum(self.values.values())

    def categories(self, attribute: str) -> tuple[str, ...]:
        """Return an attribute's categories in order of appearance."""
        place = self.attributes.index(attribute)
        return tuple(dict.fromkeys(key[place] for key in self.values))

    def shares(self, attributes: Sequence[str]) -> dict[Key, float]:
        """Return the share of each combination of some of the attributes."""
        places = [self.attributes.index(attribute) for attribute in attributes]
        sums: dict[Key, float] = {}
        for key, value in self.values.items():
            part = tuple(key[place] for place in places)
            sums[part] = sums.get(part, 0.0) + value
        return {key: value / self.total for key, value in sums.items()}

    def dense(self, labels: Mapping[str, tuple[str, ...]]) -> Floats:
        """Return the shares as an array with an axis for each attribute."""
        places = {a: {word: i for i, word in enumerate(labels[a])} for a in self.attributes}
        array = np.zeros([len(labels[a]) for a in self.attributes])
        for key, value in self.values.items():
            array[tuple(places[a][word] for a, word in zip(self.attributes, key, strict=True))] = value
        return array / self.total

    def of_cells(
        self, codes: Mapping[str, NDArray[Any]], labels: Mapping[str, tuple[str, ...]]
    ) -> NDArray[np.int64]:
        """Return for each cell which of the table's figures, laid end to end, it counts towards."""
        shape = [len(labels[a]) for a in self.attributes]
        found: NDArray[np.int64] = np.ravel_multi_index([codes[a] for a in self.attributes], shape)
        return found


def read(tables: Sequence[JointTable]) -> list[Figures]:
    """Read tables, from their files too. Raises PopulationError for the first thing that is wrong."""
    found = []
    for number, table in enumerate(tables, start=1):
        rows = table.rows if table.file is None else table_rows(table, number)
        for fault in row_faults(table, rows, ("tables", str(number))):
            raise PopulationError(fault.what, *fault.path, hint=fault.allowed)
        width = len(table.attributes)
        values = {tuple(map(label, row[:width])): float(row[width]) for row in rows}
        found.append(Figures(number, table.attributes, values, table))
    return found


def row_faults(table: JointTable, rows: Sequence[tuple[Any, ...]], path: tuple[str, ...]) -> Iterator[Fault]:
    """Yield what is wrong with the rows of a table taken by itself."""
    seen: set[Key] = set()
    total = 0.0
    for number, row in enumerate(rows, start=1):
        key = tuple(map(label, row[: len(table.attributes)]))
        figure = row[-1] if len(row) == len(table.attributes) + 1 else None
        if not is_figure(figure):
            allowed = f"a category of each of {listed(table.attributes)}, then a number of at least 0"
            yield Fault((*path, "rows"), f"row {number} is not a row of this table", allowed)
        elif key in seen:
            yield Fault((*path, "rows"), f"row {number} is for {listed(key)}, which has a row already")
        elif not all(key):
            yield Fault((*path, "rows"), f"row {number} has an empty category")
        else:
            seen.add(key)
            total += row[-1]
    whole = _WHOLE.get(table.unit)
    if not total > 0:
        yield Fault((*path, "rows"), "all figures are 0")
    elif whole and not table.normalise and abs(total - whole) > SUM_TOLERANCE * whole:
        yield Fault((*path, "rows"), *off(total, whole, "normalise = true scales them"))


def is_figure(cell: object) -> bool:
    """Tell whether a cell of a table is a finite number of at least 0."""
    return isinstance(cell, int | float) and not isinstance(cell, bool) and math.isfinite(cell) and cell >= 0


def off(total: float, whole: float, allowed: str) -> tuple[str, str]:
    """Return what to say of shares that do not add up."""
    side = "above" if total > whole else "below"
    return f"the shares add up to {total:.10g}, {abs(total - whole):.3g} {side} {whole:g}", allowed


def check_agreement(tables: Sequence[Figures], tolerance: float) -> None:
    """Raise PopulationError if tables that share attributes contradict one another."""
    for a, b in combinations(tables, 2):
        shared = [attribute for attribute in a.attributes if attribute in b.attributes]
        for attribute in shared:
            _check_categories(a, b, attribute)
        if "seed" in (a.settings.use, b.settings.use) or not shared:
            continue
        _check_totals(a, b, tolerance)
        _check_shares(a, b, shared, tolerance)


def _check_categories(a: Figures, b: Figures, attribute: str) -> None:
    for one, other in ((a, b), (b, a)):
        known = other.categories(attribute)
        unknown = [word for word in one.categories(attribute) if word not in known]
        if unknown:
            raise PopulationError(
                f"{listed(unknown)} of {quoted(attribute)} in {one.name} is unknown in {other.name}",
                *one.path,
                hint=meant(unknown[0], known),
            )


def _check_totals(a: Figures, b: Figures, tolerance: float) -> None:
    if {a.settings.unit, b.settings.unit} != {"count"} or a.settings.normalise or b.settings.normalise:
        return
    if abs(a.total - b.total) > tolerance * max(a.total, b.total):
        raise PopulationError(
            f"{a.name} has {a.total:,.10g} people in all, {b.name} has {b.total:,.10g}",
            *b.path,
            hint="if they are meant to be about the same people, normalise = true scales them to one total",
        )


def _check_shares(a: Figures, b: Figures, shared: Sequence[str], tolerance: float) -> None:
    in_a, in_b = a.shares(shared), b.shares(shared)
    worst = max(
        in_a.keys() | in_b.keys(), key=lambda key: (abs(in_a.get(key, 0.0) - in_b.get(key, 0.0)), key)
    )
    x, y = in_a.get(worst, 0.0), in_b.get(worst, 0.0)
    if abs(x - y) > tolerance:
        raise PopulationError(
            f"{a.name} and {b.name} contradict each other: {listed(worst)} is {x:.4%} in the first, "
            f"{y:.4%} in the second",
            *b.path,
            hint=f"population.fit.tolerance = {abs(x - y) * 1.1:.2g} lets them differ by that much",
        )

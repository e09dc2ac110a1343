"""Which row of a conditional table is whose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population.column import Categorical, Column, coded, label, parsed
from engine.population.faults import PopulationError, listed, meant, quoted

MAX_COMBINATIONS = 5_000_000
ANY = "*"
_RANGE = re.compile(r"(-?\d{1,15})(?:-(-?\d{1,15})|\+)")

Array = NDArray[Any]
Path = tuple[str, ...]


@dataclass(frozen=True)
class Given:
    """An attribute that a table goes by, and the labels of what people have of it."""

    name: str
    labels: tuple[str, ...]
    is_number: bool = False

    def fitting(self, cell: object) -> Array:
        """Return the places of the labels that a cell of a row means. Raises ValueError."""
        text = label(cell)
        if text == ANY:
            return np.arange(len(self.labels))
        if text in self.labels:
            return np.array([self.labels.index(text)])
        if not self.is_number:
            hint = meant(text, self.labels)
            raise ValueError(f"{quoted(text)} is no category of {quoted(self.name)}; {hint}")
        low, high = self._bounds(text)
        inside = [low <= parsed(word, "real") <= high for word in self.labels]
        return np.flatnonzero(np.array(inside, dtype=bool))

    def _bounds(self, text: str) -> tuple[float, float]:
        if match := _RANGE.fullmatch(text):
            return float(match[1]), float(match[2]) if match[2] else np.inf
        try:
            return parsed(text, "real"), parsed(text, "real")
        except ValueError:
            known = 'a value, a range such as "18-24" or "65+", or "*"'
            raise ValueError(f"{quoted(text)} is no value of {quoted(self.name)}; {known}") from None


def rows_of_people(
    given: Sequence[str], keys: Sequence[Sequence[object]], columns: Mapping[str, Column], path: Path
) -> NDArray[np.int64]:
    """Return for each person the first row whose keys fit. Raises PopulationError if somebody has none.

    `keys` are the rows' leading cells, one for each attribute of `given`; `path` is where the table stands.
    """
    codes, found = zip(*(_coded(name, columns[name], path) for name in given), strict=True)
    shape = tuple(len(attribute.labels) for attribute in found)
    if np.prod(shape, dtype=float) > MAX_COMBINATIONS:
        raise PopulationError(f"{listed(given)} have more than {MAX_COMBINATIONS:,} combinations", *path)
    table = np.full(shape, -1, dtype=np.int64)
    for number in reversed(range(len(keys))):
        try:
            fits = [attribute.fitting(cell) for attribute, cell in zip(found, keys[number], strict=True)]
        except ValueError as error:
            raise PopulationError(f"row {number + 1}: {error}", *path) from error
        table[np.ix_(*fits)] = number
    rows: NDArray[np.int64] = table[codes]
    if (rows < 0).any():
        _refuse_missing(found, codes, rows < 0, path)
    return rows


def _coded(name: str, column: Column, path: Path) -> tuple[Array, Given]:
    if column.kind == "real":
        raise PopulationError(
            f"a table cannot go by {quoted(name)}, which is a real number",
            *path,
            hint="make bands of it: an attribute from an expression such as band(income, 10000, 20000)",
        )
    codes, labels = coded(column)
    return codes, Given(name, labels, column.kind == "integer" and not isinstance(column, Categorical))


def _refuse_missing(found: Sequence[Given], codes: Sequence[Array], missing: Array, path: Path) -> None:
    kinds = np.unique(np.stack([of_one[missing] for of_one in codes]), axis=1).T
    words = [" with ".join(g.labels[code] for g, code in zip(found, kind, strict=True)) for kind in kinds]
    raise PopulationError(
        f"no row is for {listed(words)} ({', '.join(g.name for g in found)}): {int(missing.sum()):,} people",
        *path,
        hint='add rows, or a last one with "*" for all others',
    )

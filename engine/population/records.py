"""Microdata: the records of a survey or census, of which people are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population import delimited
from engine.population.column import NAMES, Column, from_labels
from engine.population.faults import PopulationError, listed, meant, quoted
from engine.population.settings import FromMicrodata, JointTable, Microdata
from engine.population.streams import Floats

PATH = ("microdata",)


@dataclass(frozen=True)
class Records:
    """What each record says, and how many people it stands for."""

    columns: dict[str, Column]
    weights: Floats
    n_dropped: int
    """Records left out because a value is missing."""

    def __len__(self) -> int:
        return len(self.weights)


def read(settings: Microdata, attributes: Mapping[str, FromMicrodata]) -> Records:
    """Read the records' attributes and weights. Raises PopulationError."""
    wanted = {name: attribute.column or name for name, attribute in attributes.items()}
    needed = [*wanted.values(), *([settings.weight] if settings.weight else [])]
    path = Path(settings.file)
    raw = delimited.read(path, dict.fromkeys(needed), settings.delimiter, PATH)
    keep = np.ones(raw.n, dtype=bool)
    for column in dict.fromkeys(needed):
        empty = raw.missing(column)
        if settings.missing == "refuse" and empty.any():
            raise PopulationError(
                f"{quoted(column)} is empty or NaN in {int(empty.sum()):,} records: first {raw.place(empty)}",
                *PATH,
                hint='missing = "drop" leaves such records out',
            )
        keep &= ~empty
    if not keep.any():
        raise PopulationError(f"{quoted(settings.file)} has no complete records", *PATH)
    columns = {name: _column(raw, name, a, keep) for name, a in attributes.items()}
    weights = _weights(raw, settings.weight, keep) if settings.weight else np.ones(int(keep.sum()))
    return Records(columns, weights, raw.n - int(keep.sum()))


def table_rows(table: JointTable, number: int) -> list[tuple[Any, ...]]:
    """Return the rows of a table that is a file of its own. Raises PopulationError."""
    path = ("tables", str(number))
    raw = delimited.read(Path(str(table.file)), dict.fromkeys([*table.attributes, table.count]), ",", path)
    try:
        figures = raw.numbers(table.count)
    except ValueError as error:
        raise PopulationError(
            f"column {quoted(table.count)}, {error}", *path, hint="a number in every row"
        ) from error
    words = [[raw.words[a][code] for code in raw.codes[a].tolist()] for a in table.attributes]
    return list(zip(*words, figures.tolist(), strict=True))


def _column(raw: delimited.Raw, name: str, attribute: FromMicrodata, keep: NDArray[np.bool_]) -> Column:
    column = attribute.column or name
    codes, words = _used(raw.codes[column][keep], raw.words[column])
    if attribute.values:
        unknown = [word for word in words if word not in attribute.values]
        if unknown:
            raise PopulationError(
                f"the file has {listed(unknown)} in column {quoted(column)}, which values does not name",
                "attributes",
                name,
                hint=meant(unknown[0], attribute.values),
            )
        recoded = [attribute.values[word] for word in words]
        words = list(dict.fromkeys(recoded))
        codes = np.array([words.index(word) for word in recoded])[codes]
    try:
        return from_labels(codes, words, attribute.type)
    except ValueError as error:
        hint = f"type = {quoted(attribute.type)} wants {NAMES[attribute.type]} in column {quoted(column)}"
        raise PopulationError(str(error), "attributes", name, hint=hint) from error


def _used(codes: NDArray[Any], words: list[str]) -> tuple[NDArray[Any], list[str]]:
    """Leave out words that no record has any more, and put the others in order."""
    order = sorted(np.unique(codes).tolist(), key=lambda code: words[code])
    places = np.zeros(len(words), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places[codes], [words[code] for code in order]


def _weights(raw: delimited.Raw, column: str, keep: NDArray[np.bool_]) -> Floats:
    try:
        weights = raw.numbers(column, keep)
    except ValueError as error:
        what = f"weight {quoted(column)}, {error}"
        raise PopulationError(what, *PATH, hint="a number in every row") from error
    if (weights < 0).any():
        place = np.zeros(raw.n, dtype=bool)
        place[np.flatnonzero(keep)[weights < 0]] = True
        raise PopulationError(f"weight {quoted(column)} is negative in {raw.place(place)}", *PATH)
    if not weights.sum() > 0:
        raise PopulationError(f"all weights in column {quoted(column)} are 0", *PATH)
    return weights

"""Ties from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as File

import numpy as np

from engine.population import delimited
from engine.population.column import Column, coded
from engine.population.faults import PopulationError, quoted
from engine.population.network.chance import Ties
from engine.population.network.graph import Array
from engine.population.network.settings import EdgeList

Path = tuple[str, ...]


def edge_list(settings: EdgeList, columns: Mapping[str, Column], n: int, path: Path) -> Ties:
    """Return the ties of a file. Raises PopulationError for people that there are not."""
    raw = delimited.read(File(settings.file), settings.ends, settings.delimiter, path)
    numbers = _numbers(settings, columns, n, path)
    one, other = (_people(raw, end, numbers, settings.key, path) for end in settings.ends)
    return one, other


def _numbers(settings: EdgeList, columns: Mapping[str, Column], n: int, path: Path) -> dict[str, int]:
    if settings.key is None:
        return {str(i): i for i in range(n)}
    codes, labels = coded(columns[settings.key])
    if len(labels) < n or len(np.unique(codes)) < n:
        what = f"{quoted(settings.key)} does not tell people apart: {n:,} have {len(labels):,} values of it"
        raise PopulationError(what, *path, "key")
    return {labels[code]: i for i, code in enumerate(codes.tolist())}


def _people(raw: delimited.Raw, end: str, numbers: dict[str, int], key: str | None, path: Path) -> Array:
    found = np.array([numbers.get(word, -1) for word in raw.words[end]], dtype=np.int64)
    unknown = found < 0
    if unknown.any():
        word = raw.words[end][int(np.argmax(unknown))]
        where = raw.place(unknown[raw.codes[end]])
        known = f"the values of {quoted(key)}" if key else f"0 to {len(numbers) - 1:,}"
        what = f"{where}: {quoted(word)} in column {quoted(end)} is nobody"
        raise PopulationError(what, *path, "file", hint=f"people are named by {known}")
    return np.asarray(found[raw.codes[end]])

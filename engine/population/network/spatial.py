"""Ties among people who live near each other: random geometric graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.population.column import Categorical, Column
from engine.population.faults import PopulationError, quoted
from engine.population.network.chance import Ties
from engine.population.network.graph import check_size
from engine.population.network.settings import Spatial
from engine.population.streams import Floats, shuffled, stream, uniform

SAMPLE = 2000
"""People whose neighbours are counted to find the distance."""

_TINY = 1e-9

Path = tuple[str, ...]


def spatial(settings: Spatial, columns: Mapping[str, Column], n: int, seed: int, path: Path) -> Ties:
    """Return ties of everybody with all within a distance, so that the mean number of neighbours is right."""
    from scipy.spatial import KDTree

    if settings.position is None:
        places = np.stack([uniform(stream(seed, axis), np.arange(n)) for axis in ("x", "y")], axis=1)
        tree = KDTree(places, boxsize=1.0)
        distance = float(np.sqrt(settings.mean_degree / (np.pi * max(1, n - 1))))
    else:
        places = _places(settings.position, columns, path)
        tree = KDTree(places)
        distance = _distance(tree, places, settings.mean_degree, seed, path)
    check_size(n * settings.mean_degree / 2)
    pairs = tree.query_pairs(distance, output_type="ndarray")
    return pairs[:, 0], pairs[:, 1]


def _places(names: tuple[str, ...], columns: Mapping[str, Column], path: Path) -> Floats:
    arrays = []
    for name in names:
        column = columns[name]
        if isinstance(column, Categorical):
            raise PopulationError(f"{quoted(name)} is not a number", *path, "position")
        arrays.append(column.array.astype(np.float64))
    return np.stack(arrays, axis=1)


def _distance(tree: Any, places: Floats, mean_degree: float, seed: int, path: Path) -> float:
    """Return the distance within which people have so many neighbours on average, by halving."""
    sample = places[shuffled(len(places), stream(seed, "sample"))[:SAMPLE]]

    def counted(distance: float) -> float:
        return float(tree.query_ball_point(sample, distance, return_length=True).mean()) - 1

    low, high = 0.0, float(np.median(tree.query(sample, k=[int(mean_degree) + 1])[0])) or _TINY
    while counted(high) < mean_degree:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if counted(middle) < mean_degree else (low, middle)
        if high - low < 1e-4 * high:
            break
    if (found := counted(high)) > 1.5 * mean_degree + 1:
        raise PopulationError(
            f"so many people are at the same places that at any distance they have {found:.3g} neighbours or "
            "hardly any",
            *path,
            "position",
        )
    return high

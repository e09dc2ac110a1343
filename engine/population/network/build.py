"""The networks of a population, from their settings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.population.column import Column, coded
from engine.population.network import kinds
from engine.population.network.blocks import blocks
from engine.population.network.chance import Ties
from engine.population.network.edge_list import edge_list
from engine.population.network.graph import Graph, from_ties
from engine.population.network.settings import (
    Blocks,
    EdgeList,
    Groups,
    Homophily,
    Network,
    Preferential,
    Random,
    SmallWorld,
    Spatial,
)
from engine.population.network.spatial import spatial
from engine.population.streams import Ints, stream


def build(name: str, settings: Network, columns: Mapping[str, Column], n: int, seed: int) -> Graph:
    """Build a network. Raises PopulationError."""
    path = ("networks", name)
    return from_ties(n, *_ties(settings, columns, n, stream(seed, *path), path))


def _ties(settings: Network, columns: Mapping[str, Column], n: int, seed: int, path: tuple[str, ...]) -> Ties:
    match settings:
        case Random():
            return kinds.random(settings, n, seed)
        case SmallWorld():
            return kinds.small_world(settings, n, seed)
        case Preferential():
            return kinds.preferential(settings, n, seed)
        case Blocks():
            codes, categories = coded(columns[settings.attribute])
            return blocks(settings, codes, categories, seed, path)
        case Homophily():
            return kinds.homophily(settings, _alike(settings.attributes, columns, n), seed)
        case Spatial():
            return spatial(settings, columns, n, seed, path)
        case Groups():
            return kinds.groups(_alike(settings.attributes, columns, n))
        case EdgeList():
            return edge_list(settings, columns, n, path)


def attributes_of(settings: Network) -> tuple[str, ...]:
    """Return the attributes that a network goes by."""
    match settings:
        case Blocks():
            return (settings.attribute,)
        case Homophily() | Groups():
            return settings.attributes
        case Spatial():
            return settings.position or ()
        case EdgeList():
            return (settings.key,) if settings.key else ()
    return ()


def _alike(names: tuple[str, ...], columns: Mapping[str, Column], n: int) -> Ints:
    """Return numbers that are equal for people who are alike in attributes."""
    key: Ints = np.zeros(n, dtype=np.int64)
    for name in names:
        codes, labels = coded(columns[name])
        key = np.unique(key * len(labels) + codes, return_inverse=True)[1]
    return key

"""Ties whose probability depends on the two people's categories: stochastic block models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.population.faults import PopulationError, listed, quoted
from engine.population.network.chance import Ties, pairs_between, pairs_within
from engine.population.network.graph import Array, check_size
from engine.population.network.settings import Blocks
from engine.population.streams import stream

Path = tuple[str, ...]


def blocks(settings: Blocks, codes: Array, categories: Sequence[str], seed: int, path: Path) -> Ties:
    """Return ties whose probability depends on the blocks of both people."""
    members = [np.flatnonzero(codes == code) for code in range(len(categories))]
    probability = _densities(settings, categories, [len(m) for m in members], path)
    ties = []
    for (a, b), p in probability.items():
        of_pair = stream(seed, categories[a], categories[b])
        if a == b:
            one, other = pairs_within(len(members[a]), p, of_pair)
        else:
            one, other = pairs_between(len(members[a]), len(members[b]), p, of_pair)
        ties.append((members[a][one], members[b][other]))
    check_size(sum(len(one) for one, _ in ties))
    return _joined(ties)


def _densities(
    settings: Blocks, categories: Sequence[str], sizes: Sequence[int], path: Path
) -> dict[tuple[int, int], float]:
    given: dict[tuple[int, int], float] = {}
    for name, row in settings.degrees.items():
        for other, degree in row.items():
            if unknown := [word for word in (name, other) if word not in categories]:
                what = f"{quoted(unknown[0])} is no category of {quoted(settings.attribute)}"
                raise PopulationError(what, *path, "degrees", hint=f"known: {listed(categories)}")
            given[categories.index(name), categories.index(other)] = degree
    found = {}
    for (a, b), degree in given.items():
        back = given.get((b, a), degree * sizes[a] / max(1, sizes[b]))
        if abs(degree * sizes[a] - back * sizes[b]) > 0.01 * max(degree * sizes[a], 1):
            raise PopulationError(
                f"{degree:g} of {quoted(categories[b])} for each of {sizes[a]:,} of {quoted(categories[a])} "
                f"are not {back:g} for each of {sizes[b]:,} the other way",
                *path,
                "degrees",
                hint="leave one direction out; it follows from the other",
            )
        others = sizes[b] - (a == b)
        if degree > others:
            what = f"{degree:g} neighbours among {others:,} others of {quoted(categories[b])}"
            raise PopulationError(what, *path, "degrees")
        found[min(a, b), max(a, b)] = degree / others if others else 0.0
    return found


def _joined(ties: Sequence[Ties]) -> Ties:
    if not ties:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    one, other = zip(*ties, strict=True)
    return np.concatenate(one), np.concatenate(other)

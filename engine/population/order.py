"""Which sources need which others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from engine.population.faults import PopulationError, listed
from engine.population.functions import FUNCTIONS
from engine.population.sources import OfExpression, Source


def in_order(sources: Sequence[Source]) -> list[Source]:
    """Return sources so that each comes after those it needs. Raises PopulationError for a circle."""
    maker = {name: source for source in sources for name in source.names}
    graph = {source: [maker[name] for name in source.needs if name in maker] for source in sources}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = [source.names[0] for source in reversed(error.args[1])]
        raise PopulationError(
            f"attributes need one another in a circle: {listed(circle)}", "attributes"
        ) from error


def descendants(sources: Sequence[Source], of: Iterable[Source]) -> list[Source]:
    """Return the sources that need, directly or not, what some of them make; those not included."""
    changed = {name for source in of for name in source.names}
    given, found = set(map(id, of)), []
    for source in sources:
        if id(source) not in given and changed.intersection(source.needs):
            found.append(source)
            changed.update(source.names)
    return found


def ancestors(sources: Sequence[Source], names: Iterable[str]) -> list[Source]:
    """Return the sources that attributes are made of, directly or not, in order."""
    wanted, found = set(names), []
    for source in reversed(sources):
        if wanted.intersection(source.names):
            found.append(source)
            wanted.update(source.needs)
    return found[::-1]


def counts_households(source: Source) -> bool:
    """Tell whether what a source makes for one person depends on the others of the household."""
    return isinstance(source, OfExpression) and any(
        FUNCTIONS[f].of_household for f in source.expression.calls
    )

"""What is wrong with the settings of networks, as far as they tell by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from engine.population.faults import Fault, quoted, unknown
from engine.population.network.build import attributes_of
from engine.population.network.settings import Homophily, Network, Preferential, Random, SmallWorld, Spatial

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


def network_faults(networks: Mapping[str, Network], known: Sequence[str], size: int) -> Iterator[Fault]:
    """Yield what is wrong with the networks of people of whom some attributes are known."""
    for name, settings in networks.items():
        path = ("networks", name)
        if not _NAME.fullmatch(name):
            yield Fault(path, f"{quoted(name)} cannot be the name of a network", "letters, digits and _")
        for attribute in attributes_of(settings):
            if attribute not in known:
                yield unknown(path, attribute, known)
        yield from _size_faults(settings, size, path)


def _size_faults(settings: Network, size: int, path: tuple[str, ...]) -> Iterator[Fault]:
    match settings:
        case SmallWorld(neighbours=degree):
            if degree % 2 or degree >= size:
                what = f"{degree} neighbours are not possible among {size:,}"
                yield Fault((*path, "neighbours"), what, f"an even number below {size:,}")
        case Preferential(ties=degree):
            if degree >= size:
                yield Fault(
                    (*path, "ties"), f"{degree} ties are not possible among {size:,}", f"below {size:,}"
                )
        case Random() | Homophily() | Spatial():
            if settings.mean_degree > size - 1:
                what = f"{settings.mean_degree:g} neighbours are not possible among {size:,}"
                yield Fault((*path, "mean_degree"), what, f"{size - 1:,} at most")

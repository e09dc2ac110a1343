"""What a network looks like, in the figures that textbooks use."""

from __future__ import annotations

import msgspec
import numpy as np

from engine.population.network.arrange import crossing, even_bounds
from engine.population.network.graph import Graph
from engine.population.streams import shuffled, stream

SAMPLE = 1000
"""People whose clustering is computed."""
MOST_NEIGHBOURS = 2000
WORKERS = (2, 8, 64)


class NetworkFigures(msgspec.Struct, frozen=True):
    """A network in figures."""

    name: str
    people: int
    ties: int
    mean_degree: float
    largest_degree: int
    without_neighbours: int
    clustering: float
    """Mean share of a person's neighbours that know each other (Watts and Strogatz 1998), of a sample of
    those with at least two."""
    largest_component: float
    """Share of the people in the largest part that hangs together."""
    crossing: dict[int, float]
    """Share of the ties that lead to another worker, by how many workers hold equal parts of the
    population."""


def describe(name: str, graph: Graph) -> NetworkFigures:
    """Return a network's figures."""
    degrees = graph.degrees
    return NetworkFigures(
        name=name,
        people=graph.n,
        ties=graph.n_ties,
        mean_degree=float(degrees.mean()),
        largest_degree=int(degrees.max()),
        without_neighbours=int((degrees == 0).sum()),
        clustering=_clustering(graph),
        largest_component=_largest_component(graph),
        crossing={n: crossing(graph, even_bounds(graph.n, n)) for n in WORKERS if n <= graph.n},
    )


def _clustering(graph: Graph) -> float:
    degrees = graph.degrees
    fit = np.flatnonzero((degrees > 1) & (degrees <= MOST_NEIGHBOURS))
    sample = fit[shuffled(len(fit), stream(0, "clustering"))[:SAMPLE]]
    shares = [_closed(graph, i) for i in sample.tolist()]
    return float(np.mean(shares)) if shares else 0.0


def _closed(graph: Graph, i: int) -> float:
    known = graph.neighbours(i)
    of_known = np.concatenate([graph.neighbours(j) for j in known.tolist()])
    return float(np.isin(of_known, known).sum() / (len(known) * (len(known) - 1)))


def _largest_component(graph: Graph) -> float:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(graph.others), dtype=np.int8)
    rows = csr_array((ones, graph.others, graph.first), shape=(graph.n, graph.n))
    labels = connected_components(rows, directed=False)[1]
    return float(np.bincount(labels).max() / graph.n)

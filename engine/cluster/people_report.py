"""What a run tells of its people, and keeps in its file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from engine.cluster.control import PeopleReport, WritingReport
from engine.cluster.placement import Placement
from engine.population.network.arrange import crossing
from engine.population.network.describe import describe
from engine.population.people import People
from engine.population.persona.diversity import of_sample


def people_report(people: People, placement: Placement, writing: WritingReport | None) -> PeopleReport:
    """Return the figures of a run's people; `writing` says how their personas were written, if they were."""
    graph = people.graph
    return PeopleReport(
        n_agents=people.n,
        attributes=len(people.names),
        workers=placement.n_workers,
        ties=graph.n_ties if graph else 0,
        crossing=crossing(graph, starts(placement)) if graph else 0.0,
        writing=writing,
        diversity=of_sample(people) if people.template else None,
    )


def starts(placement: Placement) -> list[int]:
    """Return the first agent of each worker."""
    shares = placement.shares
    later = [b.members.start for a, b in pairwise(shares) if a.worker != b.worker]
    return [shares[0].members.start, *later]


def told(people: People) -> dict[str, Any]:
    """Return what the run file keeps of how people were made, by part."""
    graphs = dict(people.graphs)
    return {
        "attributes": people.report.told(),
        "networks": [describe(name, graph) for name, graph in graphs.items()],
    }

"""A population as built: everybody's attributes, persona and neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.population.column import Column, Value, coded
from engine.population.evaluate import holds
from engine.population.expression import read
from engine.population.faults import BadExpression, BadTemplate, PopulationError
from engine.population.functions import Frame
from engine.population.network.graph import Graph
from engine.population.report import Report
from engine.population.template import Template

_NOBODY: NDArray[np.int32] = np.empty(0, dtype=np.int32)


class Written(Protocol):
    """Texts of some people."""

    def text(self, person: int) -> str | None:
        """Return a person's text; None if there is none."""


@dataclass(frozen=True)
class People:
    """A population. Its arrays are never written to, so that processes forked from this one share them."""

    n: int
    columns: Mapping[str, Column]
    """Attributes, in the preset's order; those that are text templates are in `texts`."""
    report: Report
    texts: Mapping[str, Template] = field(default_factory=dict)
    """Attributes that are made up when they are asked for."""
    template: Template | None = None
    """What makes personas that are not written."""
    graphs: Mapping[str, Graph] = field(default_factory=dict)
    """Who knows whom, by network."""
    graph: Graph | None = None
    """All networks as one."""
    written: Written | None = None
    """Personas that a model has written."""

    @property
    def names(self) -> list[str]:
        """The attributes."""
        return [*self.columns, *self.texts]

    def person(self, i: int) -> dict[str, Value]:
        """Return what is known of a person: values by attribute. Raises PopulationError."""
        known: dict[str, Value] = {name: column.value(i) for name, column in self.columns.items()}
        for name, template in self.texts.items():
            known[name] = rendered(template, known, i, "attributes", name, "template")
        return known

    def neighbours(self, i: int, network: str | None = None) -> NDArray[np.int32]:
        """Return whom a person knows, in one network or in any, in ascending order; a read-only view.

        Raises KeyError for a network that there is not.
        """
        graph = self.graph if network is None else self.graphs[network]
        return graph.neighbours(i) if graph else _NOBODY

    def fitting(self, condition: str, *path: str) -> NDArray[np.bool_]:
        """Return for whom a condition over attributes holds.

        Raises UsageError; `path` is the key of the preset that the condition stands at.
        """
        starts = None
        if "household" in self.columns:
            starts = np.flatnonzero(np.diff(coded(self.columns["household"])[0], prepend=-1))
        try:
            return holds(read(condition), self.columns, Frame(self.n, starts))
        except BadExpression as error:
            raise UsageError(str(error), where=".".join(path)) from error

    def persona(self, i: int) -> str:
        """Return who a person is, in words; "" if the preset says nothing about that. Raises
        PopulationError."""
        if self.written and (text := self.written.text(i)):
            return text
        return rendered(self.template, self.person(i), i, "persona", "template") if self.template else ""


def rendered(template: Template, known: Mapping[str, Value], i: int, *path: str) -> str:
    """Return a template's text for a person. Raises PopulationError."""
    try:
        return template.render(known)
    except BadTemplate as error:
        raise PopulationError(f"person {i:,}: {error}", *path) from error

"""A population as built: everybody's attributes, persona and neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.population.column import Column, Value
from engine.population.report import Report
from engine.population.template import Template


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
    """What makes personas."""

    @property
    def names(self) -> list[str]:
        """The attributes."""
        return [*self.columns, *self.texts]

    def person(self, i: int) -> dict[str, Value]:
        """Return what is known of a person: values by attribute."""
        known: dict[str, Value] = {name: column.value(i) for name, column in self.columns.items()}
        for name, template in self.texts.items():
            known[name] = template.render(known)
        return known

    def persona(self, i: int) -> str:
        """Return who a person is, in words; "" if the preset says nothing about that."""
        return self.template.render(self.person(i)) if self.template else ""

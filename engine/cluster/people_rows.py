"""The people of a run as rows of its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from engine.journal.people import Attribute
from engine.journal.transcripts import Transcripts
from engine.population.column import Categorical, Column
from engine.population.people import People


def attributes(people: People) -> list[Attribute]:
    """Return what is known of everybody, in columns."""
    columns = [_attribute(name, column) for name, column in people.columns.items()]
    return columns + [Attribute(name, partial(_texts, people, name)) for name in people.texts]


def templated(people: People, transcripts: str) -> Iterator[tuple[int, bool, str]]:
    """Yield the personas that the template makes, of those agents whose transcripts are kept."""
    if people.template:
        kept = Transcripts.parse(transcripts)
        for agent in range(people.n):
            if kept.keeps(agent):
                yield agent, False, people.persona(agent)


def _attribute(name: str, column: Column) -> Attribute:
    if isinstance(column, Categorical):
        return Attribute(name, partial(_part, column.codes), column.categories)
    return Attribute(name, partial(_part, column.array), is_date=column.kind == "date")


def _part(array: Any, first: int, end: int) -> Sequence[Any]:
    found: list[Any] = array[first:end].tolist()
    return found


def _texts(people: People, name: str, first: int, end: int) -> Sequence[Any]:
    return [people.person(agent)[name] for agent in range(first, end)]

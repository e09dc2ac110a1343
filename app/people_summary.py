"""Who the agents of a run are, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from rich.console import Console

from app import figures
from app.sanitise import clean
from engine.cluster.control import PeopleReport, WritingReport
from engine.population.persona.diversity import Diversity


def print_people(console: Console, people: PeopleReport) -> None:
    """Print how many there are, how they are spread over workers, and what became of their personas."""
    for line in _lines(people):
        console.print(clean(line), soft_wrap=True)


def print_writing(console: Console, writing: WritingReport) -> None:
    """Print what became of personas that a model was to write."""
    for line in _of_writing(writing):
        console.print(clean(line), soft_wrap=True)


def as_builtins(people: PeopleReport | None) -> dict[str, Any] | None:
    """Return the same for JSON."""
    if people is None:
        return None
    fields: dict[str, Any] = msgspec.to_builtins(people)
    del fields["type"]
    return fields


def _lines(people: PeopleReport) -> Iterator[str]:
    s = "" if people.attributes == 1 else "s"
    line = f"People: {people.n_agents:,} with {people.attributes:,} attribute{s}"
    if people.ties:
        line += f"; {figures.percent(people.crossing, 1)} of their {people.ties:,} ties"
        line += f" lead to another of the {people.workers:,} workers"
    yield line
    if people.writing:
        yield from _of_writing(people.writing)
    if people.diversity:
        yield from _of_diversity(people.diversity)


def _of_writing(writing: WritingReport) -> Iterator[str]:
    line = f"Personas: {writing.written:,} of {writing.people:,} written by {writing.model}"
    if writing.fallen_back:
        line += f", {writing.fallen_back:,} from the template"
    spent = f"{writing.asked:,} requests, {writing.cached:,} replies known before"
    yield f"{line}; {spent}, {figures.duration(writing.seconds)}"
    if writing.refused:
        yield f"Texts not taken: {figures.counts(writing.refused)}"


def _of_diversity(found: Diversity) -> Iterator[str]:
    same = "the same as another" if found.similarity == 1 else "nearly the same as another"
    shares = (found.distinct_1, found.distinct_2, found.near_duplicates)
    words, pairs, duplicates = (figures.percent(share, 1) for share in shares)
    yield (
        f"Variety of {found.texts:,} personas: {found.words:.0f} words each, {words} of the words and "
        f"{pairs} of the pairs different, {duplicates} {same}"
    )
    if found.coverage:
        named = (f"{name} {figures.percent(share, 1)}" for name, share in found.coverage.items())
        yield f"Personas that name their attributes: {', '.join(named)}"

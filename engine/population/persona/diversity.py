"""How varied personas are, and how much of their people they tell."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from engine.population.faults import PopulationError
from engine.population.people import People
from engine.population.persona.languages import words_of
from engine.population.persona.likeness import near_duplicates
from engine.population.persona.truth import missing
from engine.population.streams import shuffled, stream


class Diversity(msgspec.Struct, frozen=True):
    """Figures of a sample of personas."""

    texts: int
    words: float
    """Mean length."""
    distinct_1: float
    """Different words, as a share of all words (Li and others 2016)."""
    distinct_2: float
    """Different pairs of words, as a share of all pairs."""
    near_duplicates: float
    """Share of the texts that are nearly the same as another one."""
    similarity: float
    """What share of phrases in common counts as that; 1: only equal texts do."""
    coverage: dict[str, float]
    """Share of the texts that name the person's value, by attribute."""


SAMPLE = 1000
"""Personas that are looked at."""


def of_sample(people: People) -> Diversity:
    """Return how varied the personas of a sample of people are.

    Without the library that finds texts which are nearly the same, only equal ones count as that.
    """
    sample = shuffled(people.n, stream(0, "diversity"))[:SAMPLE].tolist()
    try:
        return diversity(people, sample)
    except PopulationError:
        return diversity(people, sample, similarity=1.0)


def diversity(people: People, sample: Sequence[int], similarity: float = 0.8) -> Diversity:
    """Return how varied the personas of a sample of people are."""
    texts = [people.persona(i) for i in sample]
    words = [words_of(text) for text in texts]
    n_words = sum(map(len, words))
    pairs = [pair for one in words for pair in itertools.pairwise(one)]
    return Diversity(
        texts=len(texts),
        words=n_words / max(1, len(texts)),
        distinct_1=len({word for one in words for word in one}) / max(1, n_words),
        distinct_2=len(set(pairs)) / max(1, len(pairs)),
        near_duplicates=near_duplicates(texts, similarity),
        similarity=similarity,
        coverage={name: _coverage(people, sample, texts, name) for name in people.names},
    )


def _coverage(people: People, sample: Sequence[int], texts: Sequence[str], name: str) -> float:
    named = [not any(missing(text, people.person(i), [name])) for i, text in zip(sample, texts, strict=True)]
    return sum(named) / max(1, len(named))

"""The answers of a round as columns, and of what kind they are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.journal.reader import Reader
from engine.keys import pack

MAX_OPTIONS = 50
"""Texts of which more different ones occur are taken for free text, not for choices."""

_ANSWERS = "SELECT agent, value FROM answers WHERE key >= ? AND key < ? ORDER BY key"
_GROUP_MEANS = """
SELECT json_extract(stats, '$.mean') FROM rounds
WHERE round = ? AND grp >= 0 AND json_type(stats, '$.mean') IN ('integer', 'real') ORDER BY grp"""


class Kind(StrEnum):
    """What can be said of answers."""

    NUMBERS = "numbers"
    CHOICES = "choices"
    TEXTS = "texts"
    NONE = "none"


@dataclass(frozen=True)
class Answers:
    """Who answered in a round, in order of agents, and what."""

    agents: NDArray[np.int64]
    values: NDArray[Any]
    """Numbers as float64, all else as objects."""

    @property
    def kind(self) -> Kind:
        """What the answers are."""
        if not len(self.values):
            return Kind.NONE
        if self.values.dtype == np.float64:
            return Kind.NUMBERS
        return Kind.CHOICES if len(set(self.values)) <= MAX_OPTIONS else Kind.TEXTS


def read_answers(file: Reader, round_: int) -> Answers:
    """Return the answers of a round. Raises JournalError."""
    agents, values = [], []
    for part in file.stream(_ANSWERS, pack(round_, 0), pack(round_ + 1, 0), size=50_000):
        ids, given = zip(*part, strict=True)
        agents.append(np.array(ids, np.int64))
        numeric = all(isinstance(value, (int, float)) for value in given)
        values.append(np.array(given, np.float64 if numeric else object))
    if not agents:
        return Answers(np.empty(0, np.int64), np.empty(0))
    return Answers(np.concatenate(agents), np.concatenate(values))


def read_group_means(file: Reader, round_: int) -> NDArray[np.float64]:
    """Return what the scenario reports as the mean of each group in a round. Raises JournalError."""
    return np.array([mean for (mean,) in file.rows(_GROUP_MEANS, round_)], np.float64)


def in_common(a: Answers, b: Answers) -> tuple[int, int]:
    """Return how many agents answered in both, and how many of those gave the same answer."""
    _, in_a, in_b = np.intersect1d(a.agents, b.agents, assume_unique=True, return_indices=True)
    return len(in_a), int(np.count_nonzero(a.values[in_a] == b.values[in_b]))

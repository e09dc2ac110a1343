"""Answers of a round as columns of numbers: packed on the workers, joined in the coordinator, counted.

A number that an agent did not give is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

N_BINS = 20


def pack(values: Sequence[float | None]) -> bytes:
    """Pack a number for each agent."""
    return np.array(values, dtype=np.float64).tobytes()


def pack_rows(rows: Sequence[Sequence[float | None] | None], width: int) -> bytes:
    """Pack a row of numbers for each agent."""
    nothing = (None,) * width
    return np.array([nothing if row is None else row for row in rows], dtype=np.float64).tobytes()


def joined(parts: Sequence[bytes]) -> Numbers:
    """Return the numbers of all agents, in the order of the parts."""
    return np.concatenate([np.frombuffer(part, dtype=np.float64) for part in parts])


def joined_rows(parts: Sequence[bytes], width: int) -> Numbers:
    """Return the rows of all agents as a matrix."""
    return joined(parts).reshape(-1, width)


def mean(numbers: Numbers) -> float | None:
    """Return the mean of the numbers that were given; None if there are none."""
    given = numbers[~np.isnan(numbers)]
    return float(given.mean()) if len(given) else None


def share(numbers: Numbers, value: float) -> float | None:
    """Return which share of the numbers that were given is a value; None if there are none."""
    given = numbers[~np.isnan(numbers)]
    return float((given == value).mean()) if len(given) else None


def histogram(numbers: Numbers, low: float, high: float) -> list[int]:
    """Count the numbers that were given in equal bins from `low` to `high`."""
    counts, _ = np.histogram(numbers[~np.isnan(numbers)], bins=N_BINS, range=(low, high))
    found: list[int] = counts.tolist()
    return found

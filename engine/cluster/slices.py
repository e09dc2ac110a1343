"""Which slice of the population an agent belongs to: by its attributes, or drawn in exact shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.population.people import People
from engine.preset.schema import Preset

STREAM = 0x511CE5
"""Tells this use of the seed from others."""

Codes = NDArray[Any]
"""Unsigned integers, of one byte each for up to 255 slices."""


class Part(NamedTuple):
    """A slice to be."""

    share: float | None
    fits: NDArray[np.bool_] | None = None
    """Who may belong to it; None if all may."""


def codes_of(preset: Preset, people: People | None) -> Codes | None:
    """Return each agent's slice: 0 for none, k for the k-th; None if the preset has no slices.

    `people` are needed where slices have conditions; None has them built. Raises SimtuiError.
    """
    if people is None and any(part.where for part in preset.slices):
        from engine.population.build import build

        people = build(preset.population, preset.seed)
    parts = [
        Part(part.share, people.fitting(part.where, "slices", str(number), "where"))
        if people and part.where
        else Part(part.share)
        for number, part in enumerate(preset.slices, start=1)
    ]
    return draw(parts, preset.population.size, preset.seed)


def draw(parts: Sequence[Part], n_agents: int, seed: int) -> Codes | None:
    """Return each agent's slice: 0 for none of them, k for the k-th part; None if there are no parts.

    Who fits belongs to the first part that asks for that, all of them or a share of them. Other shares are of
    all agents, drawn among those who are left: a share of 1/3 of 1,000 agents is 333 or 334 of them, as what
    is left over goes to the largest fractions. Raises UsageError if too few are left.
    """
    if not parts:
        return None
    codes: Codes = np.zeros(n_agents, dtype=np.min_scalar_type(len(parts)))
    free = np.ones(n_agents, dtype=bool)
    for number, part in enumerate(parts, start=1):
        if part.fits is not None:
            chosen = np.flatnonzero(part.fits & free)
            if part.share is not None:
                n = int(part.share * len(chosen) + 0.5)
                chosen = _generator(seed, number).permutation(chosen)[:n]
            codes[chosen], free[chosen] = number, False
    shares = [0.0 if part.fits is not None else part.share or 0.0 for part in parts]
    counts = _counts(np.array(shares) * n_agents, int(free.sum()), n_agents)
    left: Any = np.repeat(np.arange(len(counts), dtype=codes.dtype), counts)
    codes[free] = _generator(seed).permuted(left)
    return codes


def _counts(wanted: NDArray[np.float64], n_free: int, n_agents: int) -> NDArray[np.int64]:
    """Return how many of those who are left belong to none of the parts, then to each."""
    if wanted.sum() > n_free + 1e-6 * n_agents:
        raise UsageError(
            f"shares of {wanted.sum() / n_agents:.4g} of the agents in all are asked for, but slices with a "
            f"condition leave {n_free / n_agents:.4g}",
            where="slices",
            hint="smaller shares, or narrower conditions",
        )
    whole = np.array([max(0.0, n_free - wanted.sum()), *wanted])
    counts = np.floor(whole + 1e-9).astype(np.int64)
    order = np.argsort(-(whole - counts), kind="stable")
    counts[order[: n_free - int(counts.sum())]] += 1
    return counts


def _generator(seed: int, *number: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, STREAM, *number))))

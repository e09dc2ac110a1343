"""Which slice of the population an agent belongs to: exact shares, drawn from the run's seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

STREAM = 0x511CE5
"""Tells this use of the seed from others."""

Codes = NDArray[Any]
"""Unsigned integers, of one byte each for up to 255 slices."""


def draw(shares: Sequence[float], n_agents: int, seed: int) -> Codes | None:
    """Return each agent's slice: 0 for none of them, k for the k-th share; None if there are no shares.

    A share of 1/3 of 1,000 agents is 333 or 334 of them: what is left over goes to the largest fractions.
    """
    if not shares:
        return None
    wanted = np.array([max(0.0, 1.0 - sum(shares)), *shares]) * n_agents
    counts = np.floor(wanted + 1e-9).astype(np.int64)
    order = np.argsort(-(wanted - counts), kind="stable")
    counts[order[: n_agents - int(counts.sum())]] += 1
    codes: Any = np.repeat(np.arange(len(counts), dtype=np.min_scalar_type(len(shares))), counts)
    generator = np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, STREAM))))
    shuffled: Codes = generator.permuted(codes)
    return shuffled

"""Where each random choice of a population takes its numbers from.

Every purpose (an attribute, a network) has a stream of its own, and in it every person: adding an attribute,
or people, changes none of the numbers that were there before.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.draws import mix, uniforms

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def stream(seed: int, *purpose: str | int) -> int:
    """Return the seed of the stream for a purpose."""
    digest = blake2b("\0".join(map(str, purpose)).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return mix(seed, int.from_bytes(digest, "little"))


def uniform(seed: int, ids: NDArray[Any]) -> Floats:
    """Return a number in [0, 1) for each id."""
    return uniforms(seed, ids)


def shuffled(n: int, seed: int) -> Ints:
    """Return the numbers below `n` in random order."""
    order: Ints = np.argsort(uniforms(seed, np.arange(n)), kind="stable")
    return order


def ranks_within(groups: NDArray[Any], seed: int) -> tuple[Ints, Ints]:
    """Return each member's place, from 0, in a random order of its group, and the size of each group.

    `groups` are small non-negative integers.
    """
    n = len(groups)
    by_group = shuffled(n, seed)
    sizes: Ints = np.bincount(groups)
    small = groups.astype(np.min_scalar_type(len(sizes)))  # numpy sorts integers of 16 bits by radix
    by_group = by_group[np.argsort(small[by_group], kind="stable")]
    first = np.cumsum(sizes) - sizes
    ranks = np.empty(n, dtype=np.int64)
    ranks[by_group] = np.arange(n) - np.repeat(first, sizes)
    return ranks, sizes

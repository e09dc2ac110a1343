"""Random numbers that depend on what they are for, not on the order in which they are drawn.

A counter-based generator: the n-th number of a stream is a hash of (seed, n). So a batch of any size, on any
worker, draws the same numbers for the same calls. The mixing function is SplitMix64 (Steele, Lea and Flood,
OOPSLA 2014), whose output passes BigCrush.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_MASK = (1 << 64) - 1


def mix(seed: int, n: int) -> int:
    """Return the 64-bit number that belongs to `n` in the stream of `seed`."""
    z = (seed * _GOLDEN + n + _GOLDEN) & _MASK
    z = ((z ^ z >> 30) * _MIX[0]) & _MASK
    z = ((z ^ z >> 27) * _MIX[1]) & _MASK
    return z ^ z >> 31


def uniform(seed: int, n: int) -> float:
    """Return the number in [0, 1) that belongs to `n`."""
    return (mix(seed, n) >> 11) * 2.0**-53


def uniforms(seed: int, ns: NDArray[Any]) -> NDArray[np.float64]:
    """Return `uniform(seed, n)` for each n of an integer array, as one array operation."""
    z = ns.astype(np.uint64) + np.uint64((seed * _GOLDEN + _GOLDEN) & _MASK)
    z = (z ^ z >> np.uint64(30)) * np.uint64(_MIX[0])
    z = (z ^ z >> np.uint64(27)) * np.uint64(_MIX[1])
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53

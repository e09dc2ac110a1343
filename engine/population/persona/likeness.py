"""Which texts are nearly the same: the share of three-word phrases in common, estimated by MinHash."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from engine.installation import how_to_install
from engine.population.faults import PopulationError
from engine.population.persona.languages import words_of

PERMUTATIONS = 64
"""The estimate is off by about 1 / sqrt(64) = 0.12 at worst."""
PHRASE = 3


def phrases(text: str) -> set[bytes]:
    """Return the phrases of a text; a shorter text is one itself."""
    words = words_of(text)
    places = range(max(1, len(words) - PHRASE + 1))
    return {" ".join(words[i : i + PHRASE]).encode() for i in places}


class Likeness:
    """Texts seen so far. Raises PopulationError if the library for it is not there."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._seen: set[str] = set()
        self._hashes: dict[int, Any] = {}
        self._index = _index(threshold) if threshold < 1 else None

    def add(self, number: int, text: str) -> bool:
        """Take note of a text, unless it is nearly the same as an earlier one; tell whether it is not."""
        same = " ".join(words_of(text))
        if same in self._seen:
            return False
        if self._index is not None:
            hashed = self._hashed(text)
            near = self._index.query(hashed)
            if any(self._hashes[i].jaccard(hashed) >= self._threshold for i in near):
                return False
            self._hashes[number] = hashed
            self._index.insert(number, hashed)
        self._seen.add(same)
        return True

    def _hashed(self, text: str) -> Any:
        hashed = _blank().copy()
        hashed.update_batch(list(phrases(text)))
        return hashed


def near_duplicates(texts: Sequence[str], threshold: float) -> float:
    """Return the share of texts that are nearly the same as an earlier one."""
    seen = Likeness(threshold)
    n = sum(not seen.add(number, text) for number, text in enumerate(texts))
    return n / len(texts) if texts else 0.0


@cache
def _blank() -> Any:
    """Return the hash of nothing; making its permutations costs as much as hashing a text."""
    from datasketch import MinHash

    return MinHash(num_perm=PERMUTATIONS, seed=1)


def _index(threshold: float) -> Any:
    try:
        from datasketch import MinHashLSH
    except ImportError as error:
        raise PopulationError(
            "finding personas that are nearly the same needs the package datasketch",
            "persona",
            "writer",
            "similarity",
            hint=f"similarity = 1.0 finds only equal ones; or: {how_to_install('analysis')}",
        ) from error
    return MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)

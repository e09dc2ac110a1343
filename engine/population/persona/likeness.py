"""Which texts are nearly the same: the share of three-word phrases in common, estimated by MinHash."""

from __future__ import annotations

from collections.abc import Sequence
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
        self._seen: dict[str, int] = {}
        self._hashes: dict[int, Any] = {}
        self._index = _index(threshold) if threshold < 1 else None

    def like(self, text: str) -> int | None:
        """Return the number of an earlier text that this one is nearly the same as; None if there is none."""
        same = self._seen.get(" ".join(words_of(text)))
        if same is not None or self._index is None:
            return same
        hashed = _hashed(text)
        near = [i for i in self._index.query(hashed) if self._hashes[i].jaccard(hashed) >= self._threshold]
        return min(near, default=None)

    def add(self, number: int, text: str) -> None:
        """Take note of a text."""
        self._seen.setdefault(" ".join(words_of(text)), number)
        if self._index is not None:
            self._hashes[number] = hashed = _hashed(text)
            self._index.insert(number, hashed)


def near_duplicates(texts: Sequence[str], threshold: float) -> float:
    """Return the share of texts that are nearly the same as an earlier one."""
    seen, n = Likeness(threshold), 0
    for number, text in enumerate(texts):
        n += seen.like(text) is not None
        seen.add(number, text)
    return n / len(texts) if texts else 0.0


def _hashed(text: str) -> Any:
    from datasketch import MinHash

    hashed = MinHash(num_perm=PERMUTATIONS, seed=1)
    hashed.update_batch(list(phrases(text)))
    return hashed


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

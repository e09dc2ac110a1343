"""Texts of many people in one block of memory, which forked workers share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


class Texts:
    """A text for some of n people."""

    def __init__(self, n: int, texts: Iterable[tuple[int, str]]) -> None:
        encoded = {person: text.encode() for person, text in texts}
        sizes = np.zeros(n, dtype=np.int64)
        for person, content in encoded.items():
            sizes[person] = len(content)
        self._ends = np.cumsum(sizes)
        self._bytes = b"".join(encoded[person] for person in sorted(encoded))

    def __len__(self) -> int:
        return len(self._ends)

    def text(self, person: int) -> str | None:
        """Return a person's text; None if there is none."""
        start = int(self._ends[person - 1]) if person else 0
        end = int(self._ends[person])
        return self._bytes[start:end].decode() if end > start else None

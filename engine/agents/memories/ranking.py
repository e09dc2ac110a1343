"""How well remembered texts fit a question: BM25, and scores on a common scale."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Relevance = Callable[[str, Sequence[str]], Sequence[float]]
"""How like a question each of some texts is; the scale does not matter."""
Embed = Callable[[str], NDArray[np.float64]]
"""Turns a text into a vector of length 1."""

KNOWN = 16_384
"""Texts whose words or embeddings are kept; an embedding of 576 numbers takes 5 kB."""
K1, B = 1.5, 0.75
"""How soon more of the same word counts no more, and how much length counts (Robertson and Zaragoza, The
Probabilistic Relevance Framework, 2009, section 3.2, which gives 1.2 to 2 and 0.5 to 0.8)."""
_HAN = r"\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+")
"""Chinese and Japanese have no spaces between words: each of their characters counts as one."""


def bm25(question: str, texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text.

    A word that n of N texts have weighs ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.
    """
    found = [_words(text) for text in texts]
    mean = sum(n for _, n in found) / len(found) if found else 0.0
    weights = {}
    for word in _words(question)[0]:
        n = sum(word in counts for counts, _ in found)
        weights[word] = math.log(1 + (len(found) - n + 0.5) / (n + 0.5))
    return [
        math.fsum(
            weight * _saturated(counts[word], length, mean)
            for word, weight in weights.items()
            if word in counts
        )
        for counts, length in found
    ]


class Cosine:
    """Relevance by the angle between embeddings, to four decimals: machines differ in the last bits."""

    def __init__(self, embed: Embed) -> None:
        """`embed` is asked once for each text, as long as it is among the last `KNOWN` ones."""
        self._embed = lru_cache(maxsize=KNOWN)(embed)

    def __call__(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the cosine of each text's embedding and the question's."""
        if not texts:
            return []
        asked = self._embed(question)
        return [round(float(self._embed(text) @ asked), 4) for text in texts]


def scaled(values: Sequence[float]) -> list[float]:
    """Return values with the least at 0 and the largest at 1; all 0 if they are equal."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def _saturated(count: int, length: int, mean: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean))


@lru_cache(maxsize=KNOWN)
def _words(text: str) -> tuple[Counter[str], int]:
    words = _WORD.findall(text.casefold())
    return Counter(words), len(words)

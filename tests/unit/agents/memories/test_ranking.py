"""Scores of remembered texts, against values worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.agents.memories.ranking import Cosine, bm25, scaled

TEXTS = ["the cat sat", "the dog sat on the mat", "a bird"]


def test_bm25_is_what_the_formula_gives() -> None:
    mean = 11 / 3
    rare = log(1 + 2.5 / 1.5)
    common = log(1 + 1.5 / 2.5)
    by_hand = [
        (rare + common) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 3 / mean)),
        common * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 6 / mean)),
        0.0,
    ]
    assert bm25("Cat, sat!", TEXTS) == pytest.approx(by_hand)


def test_more_of_a_word_counts_for_more_but_less_and_less() -> None:
    once, twice, thrice, _ = bm25("cat", ["cat x x", "cat cat x", "cat cat cat", "x x x"])
    assert once < twice < thrice
    assert thrice - twice < twice - once


@pytest.mark.parametrize(("question", "texts"), [("", TEXTS), ("zebra", TEXTS), ("...", ["", "?"])])
def test_what_shares_no_word_scores_nothing(question: str, texts: list[str]) -> None:
    assert bm25(question, texts) == [0.0] * len(texts)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("水がない", ["パンは安い", "井戸に水なし"]),
        ("Ärger!", ["nichts", "ÄRGER"]),
        ("хлеб", ["вода", "Хлеб 3"]),
    ],
)
def test_words_of_any_alphabet_are_found(question: str, texts: list[str]) -> None:
    other, found = bm25(question, texts)
    assert found > other


def test_embeddings_are_compared_by_their_angle_and_made_once() -> None:
    asked = []

    def embed(text: str) -> NDArray[np.float64]:
        asked.append(text)
        return np.array([np.cos(float(text)), np.sin(float(text))])

    cosine = Cosine(embed)
    for _ in range(2):
        assert cosine("0", ["0", "1", "3.14159265"]) == [1.0, 0.5403, -1.0]
    assert asked == ["0", "1", "3.14159265"]
    assert cosine("2", []) == []
    assert len(asked) == 3


def test_of_nothing_there_are_no_scores() -> None:
    assert bm25("cat", []) == scaled([]) == []


def test_scales_go_from_0_to_1() -> None:
    assert scaled([3.0, 1.0, 2.0]) == [1.0, 0.0, 0.5]
    assert scaled([4.0, 4.0]) == [0.0, 0.0]

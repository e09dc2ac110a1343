"""Samples of agents: parsed strictly, the same everywhere, and fair."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.journal.transcripts import Transcripts
from engine.keys import MAX_AGENTS


@pytest.mark.parametrize(("setting", "kept"), [("all", 1000), ("1 in 1", 1000), ("none", 0)])
def test_all_and_none(setting: str, kept: int) -> None:
    assert sum(map(Transcripts.parse(setting).keeps, range(1000))) == kept


@pytest.mark.parametrize(
    "setting",
    [
        "",
        "some",
        "ALL",
        "1 in 0",
        "1 in",
        "2 in 3",
        "1 in -4",
        "1 in 1.5",
        "1 in 1 ",
        "1 in 9999999999",
        "1 in ٣",
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(setting: str) -> None:
    with pytest.raises(ValueError, match='"all", "none" or "1 in N" with N from 1 to') as caught:
        Transcripts.parse(setting)
    assert repr(setting) in str(caught.value)


@given(st.text())
def test_parsing_never_fails_otherwise(setting: str) -> None:
    with suppress(ValueError):
        assert Transcripts.parse(setting).keeps(0) == (setting != "none")


@pytest.mark.parametrize("n", [2, 7, 10])
def test_the_share_is_right_in_every_seat_of_a_group(n: int) -> None:
    """Every 10th agent instead of a hash would keep seat 0 of each group of 10, and nobody else."""
    sample = Transcripts.parse(f"1 in {n}")
    for seat in range(10):
        kept = sum(map(sample.keeps, range(seat, 30_000, 10)))
        expected, sd = 3000 / n, (3000 * (1 / n) * (1 - 1 / n)) ** 0.5
        assert abs(kept - expected) < 5 * sd


def test_neighbours_are_kept_independently() -> None:
    sample = Transcripts.parse("1 in 4")
    pairs = sum(sample.keeps(agent) and sample.keeps(agent + 1) for agent in range(16_000))
    assert abs(pairs - 1000) < 200


def test_the_sample_stays_the_same_from_version_to_version() -> None:
    sample = Transcripts.parse("1 in 10")
    assert [agent for agent in range(60) if sample.keeps(agent)] == [0, 7, 34, 42, 51, 52, 56]


def test_the_largest_agent_number_works() -> None:
    assert Transcripts.parse("all").keeps(MAX_AGENTS - 1)
    assert not Transcripts.parse(f"1 in {MAX_AGENTS}").keeps(MAX_AGENTS - 1)

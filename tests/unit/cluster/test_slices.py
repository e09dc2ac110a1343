"""Slices of the population: exact shares, drawn from the seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cluster import slices

SHARES = st.lists(st.floats(0.001, 1), min_size=1, max_size=6).map(
    lambda xs: [x / max(1.0, sum(xs)) * 0.999 for x in xs]
)


@given(SHARES, st.integers(1, 500), st.integers(0, 2**63 - 1))
def test_counts_are_within_one_of_their_share(shares: list[float], n_agents: int, seed: int) -> None:
    codes = slices.draw(shares, n_agents, seed)
    assert codes is not None
    assert len(codes) == n_agents
    counts = np.bincount(codes, minlength=len(shares) + 1)
    for count, share in zip(counts, [1 - sum(shares), *shares], strict=True):
        assert abs(count - share * n_agents) < 1 + 1e-6


@pytest.mark.parametrize(
    ("shares", "n", "counts"), [([0.5], 10, [5, 5]), ([1.0], 3, [0, 3]), ([1 / 3] * 3, 9, [0, 3, 3, 3])]
)
def test_whole_shares_are_exact(shares: list[float], n: int, counts: list[int]) -> None:
    codes = slices.draw(shares, n, 1)
    assert codes is not None
    assert np.bincount(codes, minlength=len(counts)).tolist() == counts


def test_no_slices_no_codes() -> None:
    assert slices.draw([], 10, 1) is None


def test_who_is_in_a_slice_depends_on_the_seed_alone() -> None:
    ours, again, theirs = (slices.draw([0.5], 1000, seed) for seed in (1, 1, 2))
    assert ours is not None
    assert again is not None
    assert theirs is not None
    assert (ours == again).all()
    assert 350 < (ours == theirs).sum() < 650
    assert abs(ours[:500].mean() - 0.5) < 0.1, "neighbours are mixed"


@pytest.mark.parametrize(("n_slices", "n_bytes"), [(1, 1), (255, 1), (256, 2), (300, 2)])
def test_any_number_of_slices(n_slices: int, n_bytes: int) -> None:
    codes = slices.draw([1 / n_slices] * n_slices, 3 * n_slices, 1)
    assert codes is not None
    assert codes.itemsize == n_bytes
    assert np.bincount(codes).tolist() == [0] + [3] * n_slices

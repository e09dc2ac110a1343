import numpy as np
import pytest

from engine.population.network.chance import pairs_between, pairs_within


@pytest.mark.parametrize("n", [0, 1, 2, 3, 50])
def test_all_pairs_with_certainty(n: int) -> None:
    one, other = pairs_within(n, 1.0, 1)
    assert set(zip(one.tolist(), other.tolist(), strict=True)) == {(a, b) for a in range(n) for b in range(a)}
    one, other = pairs_between(n, 3, 1.0, 1)
    assert set(zip(one.tolist(), other.tolist(), strict=True)) == {(a, b) for a in range(n) for b in range(3)}


def test_no_pairs_without_a_chance() -> None:
    assert len(pairs_within(100, 0.0, 1)[0]) == 0


@pytest.mark.parametrize("p", [0.01, 0.3, 0.99])
def test_every_pair_has_the_same_chance(p: float) -> None:
    n, runs = 12, 600
    counts = np.zeros((n, n))
    for seed in range(runs):
        np.add.at(counts, pairs_within(n, p, seed), 1)
    taken = counts[np.tril_indices(n, -1)]
    assert counts.sum() == taken.sum()
    assert abs(taken.mean() / runs - p) < 5 * (p * (1 - p) / (runs * len(taken))) ** 0.5 + 1e-9
    assert np.abs(taken - runs * p).max() < 6 * (runs * p * (1 - p)) ** 0.5


def test_pairs_of_many_people_are_told_apart() -> None:
    n = 3_000_000
    one, other = pairs_within(n, 2e-9, 1)
    assert ((other >= 0) & (other < one) & (one < n)).all()
    assert len(set(zip(one.tolist(), other.tolist(), strict=True))) == len(one)
    assert len(one) == pytest.approx(n * (n - 1) / 2 * 2e-9, rel=0.06)
    assert one.max() > 0.99 * n

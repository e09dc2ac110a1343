import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.population.quotas import even_positions, largest_remainder, systematic

WEIGHTS = st.lists(st.floats(0, 1), min_size=1, max_size=20).filter(lambda w: sum(w) > 1e-3)


def wanted(weights: list[float], total: int) -> np.ndarray:
    array = np.array(weights)
    return array / array.sum() * total


def test_a_thousand_at_20_30_50_percent() -> None:
    assert largest_remainder(np.array([0.2, 0.3, 0.5]) * 1000, 1000).tolist() == [200, 300, 500]


def test_what_is_left_over_goes_to_the_largest_fractions() -> None:
    assert largest_remainder(np.array([1.4, 2.35, 3.25]), 7).tolist() == [2, 2, 3]


@given(WEIGHTS, st.integers(0, 10_000), st.floats(0, 1, exclude_max=True))
def test_rounding_goes_to_a_neighbour_and_keeps_the_sum(
    weights: list[float], total: int, start: float
) -> None:
    exact = wanted(weights, total)
    for counts in (
        largest_remainder(exact, total),
        systematic(exact, total, start) if total else np.zeros(1),
    ):
        assert counts.sum() == total
        if total:
            assert (np.abs(counts - exact) < 1 + 1e-6).all()


def test_systematic_rounding_is_right_on_average() -> None:
    exact = np.array([0.3, 0.3, 0.4, 1.5, 0.5])
    mean = np.mean([systematic(exact, 3, start) for start in np.arange(0.0005, 1, 0.001)], axis=0)
    assert np.abs(mean - exact).max() < 0.002


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.floats(0, 1), st.integers(0, 100))
def test_even_positions_give_each_group_its_quota(groups: list[int], share: float, seed: int) -> None:
    array = np.array(groups)
    u = even_positions(array, seed)
    assert ((u >= 0) & (u < 1)).all()
    for group in set(groups):
        inside = u[array == group]
        assert abs((inside < share).sum() - share * len(inside)) <= 1

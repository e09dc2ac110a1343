"""Tests and intervals: against published figures, against other formulas, and in the limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.compare.inference import (
    LARGE,
    Interval,
    compare_choices,
    compare_numbers,
    compare_shares,
    holm,
)


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def normal(mean: float, n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 10, n)


def test_means_and_their_difference() -> None:
    found = compare_numbers(column(1, 2, 3), column(5, 6, 10), 0)
    assert (found.a.n, found.a.mean, found.a.sd, found.a.median) == (3, 2, 1, 2)
    assert found.difference == 5
    assert found.superiority == 1


def test_large_samples_get_welchs_test_and_its_interval() -> None:
    a, b = normal(50, LARGE), normal(60, 40, seed=2)
    found = compare_numbers(a, b, 0)
    assert found.test == "Welch's t"
    assert found.p == stats.ttest_ind(b, a, equal_var=False).pvalue
    se = np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    assert found.interval is not None
    assert found.interval.low == pytest.approx(found.difference - 2.0 * se, rel=0.01)
    assert found.interval.high == pytest.approx(found.difference + 2.0 * se, rel=0.01)


def test_small_samples_get_a_permutation_test() -> None:
    """All 20 ways to deal 6 numbers into two threes: 2 of them are as extreme as this."""
    found = compare_numbers(column(1, 2, 3), column(7, 8, 9), 0)
    assert found.test == "permutation"
    assert found.p == pytest.approx(2 / 20)


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    a, b = normal(50, 20), normal(55, 20, seed=2)
    assert compare_numbers(a, b, 3) == compare_numbers(a, b, 3)
    assert compare_numbers(a, b, 3).p != compare_numbers(a, b, 4).p


def test_hedges_g() -> None:
    """Both standard deviations are 1, so that d is 2; 4 + 4 - 2 = 6 degrees of freedom."""
    a = column(-1.5, -0.5, 0.5, 1.5) / np.std([-1.5, -0.5, 0.5, 1.5], ddof=1)
    assert compare_numbers(a, a + 2, 0).g == pytest.approx(2 * (1 - 3 / (4 * 6 - 1)))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (column(5), column(7)),
        (column(5), column(7, 8)),
        (column(5, 5), column(7, 7, 7)),
        (column(5, 5), column(5, 5)),
    ],
)
def test_without_variation_there_is_a_difference_and_no_test(a: np.ndarray, b: np.ndarray) -> None:
    found = compare_numbers(a, b, 0)
    assert found.difference == b.mean() - a.mean()
    assert (found.test, found.p, found.interval, found.g) == (None, None, None, None)


def test_the_same_numbers_do_not_differ() -> None:
    a = normal(50, 100)
    found = compare_numbers(a, a, 0)
    assert (found.difference, found.p, found.g, found.ks) == (0, 1, 0, 0)
    assert found.superiority == 0.5


@pytest.mark.filterwarnings("error")
def test_one_side_without_variation_is_tested() -> None:
    found = compare_numbers(np.full(LARGE, 50.0), normal(60, LARGE), 0)
    assert found.p is not None
    assert found.p < 0.001


@pytest.mark.parametrize(
    ("x_a", "n_a", "x_b", "n_b", "low", "high"),
    [(48, 80, 56, 70, 0.0524, 0.3339), (3, 10, 9, 10, 0.1705, 0.8090), (0, 10, 10, 10, 0.6075, 1.0)],
)
def test_intervals_of_shares_are_newcombes(
    x_a: int, n_a: int, x_b: int, n_b: int, low: float, high: float
) -> None:
    """Table II of Newcombe (1998), method 10, with the sides exchanged."""
    found = compare_shares("yes", x_a, n_a, x_b, n_b)
    assert found.difference == pytest.approx(x_b / n_b - x_a / n_a)
    assert found.interval == Interval(pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 50), st.integers(1, 50))
def test_an_interval_of_shares_holds_the_difference(x_a: int, n_a: int, x_b: int, n_b: int) -> None:
    found = compare_shares("yes", min(x_a, n_a), n_a, min(x_b, n_b), n_b)
    assert -1 - 1e-9 <= found.interval.low <= found.difference + 1e-9
    assert found.difference - 1e-9 <= found.interval.high <= 1 + 1e-9


def test_choices_are_ranked_and_tested() -> None:
    found = compare_choices({"yes": 30, "no": 70}, {"no": 40, "yes": 60}, 0)
    assert [(option.name, option.n_a, option.n_b) for option in found.options] == [
        ("no", 70, 40),
        ("yes", 30, 60),
    ]
    assert (found.n_a, found.n_b, found.test) == (100, 100, "chi-square")
    chi2 = 2 * (15**2 / 55 + 15**2 / 45)
    assert found.p == pytest.approx(stats.chi2.sf(chi2, 1))
    assert found.cramers_v == pytest.approx((chi2 / 200) ** 0.5)


def test_rare_choices_are_tested_by_simulation() -> None:
    found = compare_choices({"yes": 3, "no": 1}, {"perhaps": 4}, 0)
    assert found.test == "chi-square, simulated"
    assert found == compare_choices({"yes": 3, "no": 1}, {"perhaps": 4}, 0)
    assert found.p is not None
    assert 0.01 < found.p < 0.06  # 2 of 70 ways to deal the 8 answers: 0.029


def test_one_option_leaves_nothing_to_test() -> None:
    found = compare_choices({"yes": 3}, {"yes": 4}, 0)
    assert (found.p, found.test, [option.difference for option in found.options]) == (None, None, [0])


def test_holm_by_hand() -> None:
    """4 x 0.005, 3 x 0.01, 2 x 0.03, and 1 x 0.04 made as large as the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, None, 0.9]) == [1.0, None, 1.0]
    assert holm([]) == []


@given(st.lists(st.one_of(st.none(), st.floats(0, 1))))
def test_holm_never_makes_a_p_smaller_nor_changes_their_order(ps: list[float | None]) -> None:
    adjusted = holm(ps)
    pairs = [(p, q) for p, q in zip(ps, adjusted, strict=True) if p is not None and q is not None]
    assert len(pairs) == sum(p is not None for p in ps) == sum(q is not None for q in adjusted)
    assert all(p <= q <= 1 for p, q in pairs)
    ranked = [q for _, q in sorted(pairs)]
    assert ranked == sorted(ranked)

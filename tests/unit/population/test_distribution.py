from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.population.distribution import BadDistribution, Law, as_column

U = (np.arange(20_000) + 0.5) / 20_000


def test_numbers_follow_scipys_distribution() -> None:
    numbers = Law("gamma").quantiles({"a": 2.0, "scale": 3.0})(U[::20])
    assert stats.kstest(numbers, stats.gamma(2.0, scale=3.0).cdf).statistic < 0.001


@pytest.mark.parametrize(
    ("name", "parameters"), [("poisson", {"mu": 3}), ("binom", {"n": 10, "p": 0.3}), ("geom", {"p": 0.01})]
)
def test_the_table_of_a_discrete_distribution_gives_scipys_numbers(
    name: str, parameters: dict[str, float]
) -> None:
    assert (Law(name, "integer").quantiles(parameters)(U) == getattr(stats, name)(**parameters).ppf(U)).all()


def test_whole_numbers_between_two_are_equally_likely() -> None:
    numbers = as_column(Law("uniform", "integer").quantiles({"low": 18, "high": 27})(U), "integer").array
    assert np.bincount(numbers)[18:].tolist() == [2000] * 10


def test_dates_between_two() -> None:
    law = Law("uniform", "date").quantiles({"low": date(2024, 1, 1), "high": date(2024, 12, 31)})
    days = as_column(law(U), "date").values()
    assert (min(days), max(days), len(set(days))) == (date(2024, 1, 1), date(2024, 12, 31), 366)


@given(st.floats(-3, 2), st.floats(0.01, 3))
def test_a_cut_off_distribution_stays_within(low: float, width: float) -> None:
    quantiles = Law("norm", at_least=low, at_most=low + width).quantiles({})
    numbers = quantiles(U[::100])
    assert (numbers >= low).all()
    assert (numbers <= low + width).all()
    assert np.allclose(quantiles.reached(numbers), U[::100], atol=1e-6)


def test_whole_numbers_of_a_cut_off_distribution_include_both_ends() -> None:
    numbers = Law("norm", "integer", at_least=18, at_most=30).quantiles({"loc": 24, "scale": 10})(U)
    counts = np.bincount(numbers.astype(int))[18:]
    assert (numbers.min(), numbers.max()) == (18, 30)
    assert counts[0] == pytest.approx(counts[1], rel=0.2)  # not the half of it
    numbers = Law("poisson", "integer", at_least=1).quantiles({"mu": 1})(U)
    assert (numbers == 1).mean() == pytest.approx(
        stats.poisson(1).pmf(1) / (1 - stats.poisson(1).pmf(0)), abs=1e-3
    )


def test_decimals() -> None:
    numbers = Law("norm", decimals=1).quantiles({"loc": 170, "scale": 9})(U)
    assert (numbers == np.round(numbers, 1)).all()


@pytest.mark.parametrize(
    ("law", "parameters", "words"),
    [
        (Law("nrm"), {}, 'no distribution "nrm"; did you mean "norm"'),
        (Law("__class__"), {}, "no distribution"),
        (Law("lognorm"), {"loc": 1}, "lognorm takes s, loc, scale"),
        (Law("poisson"), {"mu": 1, "scale": 2}, "poisson takes mu, loc"),
        (Law("norm"), {"scale": -1}, "but not these values"),
        (Law("norm", at_least=3, at_most=2), {}, "nothing between 3 and 2"),
        (Law("norm", at_least=1000), {}, "nothing between"),
        (Law("uniform"), {"low": 3}, "low and high"),
        (Law("uniform"), {"low": 3, "high": 2}, "low not above high"),
        (Law("cauchy", "integer"), {"scale": 1e300}, "too large"),
    ],
)
def test_what_cannot_be_drawn_is_told(law: Law, parameters: dict[str, float], words: str) -> None:
    with pytest.raises(BadDistribution, match=words):
        law.quantiles(parameters)(U)

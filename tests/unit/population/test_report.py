import pytest
from scipy import stats

from engine.population.report import Comparison, Figure
from tests.fakes.populations import people, shares


def comparison(*pairs: tuple[float, int]) -> Comparison:
    figures = [Figure((str(i),), target, achieved) for i, (target, achieved) in enumerate(pairs)]
    return Comparison("x", "quota", ("x",), figures, len(pairs) - 1)


def test_chi_square_is_pearsons() -> None:
    found = comparison((50, 60), (30, 25), (20, 15))
    expected = stats.chisquare([60, 25, 15], [50, 30, 20])
    assert found.chi_square == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.worst.labels, found.largest_deviation) == (("0",), 10)


def test_somebody_where_nobody_should_be() -> None:
    found = comparison((100, 99), (0, 1))
    assert (found.chi_square, found.p_value) == (float("inf"), 0)
    assert comparison((100, 100)).p_value == 1


def test_random_quotas_have_fair_p_values() -> None:
    text = shares("x", 'draw = "random"', a=0.1, b=0.4, c=0.5)
    p = [people(text, 500, seed).report.comparisons[0].p_value for seed in range(200)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_random_numbers_have_fair_p_values() -> None:
    text = (
        "[attributes.x]\n"
        'from = "distribution"\n'
        'distribution = "poisson"\n'
        "parameters = { mu = 4 }\n"
        'type = "integer"\n'
        "at_least = 1\n"
        'draw = "random"\n'
    )
    p = [people(text, 500, seed).report.comparisons[0].p_value for seed in range(200)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    "more",
    [
        'distribution = "norm"\nparameters = { loc = 5 }',
        'distribution = "uniform"\nparameters = { low = 1, high = 6 }\ntype = "integer"',
        'distribution = "norm"\ndecimals = 1',
    ],
)
def test_exact_numbers_fill_every_range(more: str) -> None:
    (found,) = people(f'[attributes.x]\nfrom = "distribution"\n{more}\n', 600).report.comparisons
    assert found.largest_deviation <= 1.5
    assert sum(figure.target for figure in found.figures) == pytest.approx(600)


def test_conditional_tables_are_compared_row_by_row() -> None:
    text = shares("edu", low=0.5, high=0.5)
    text += (
        "[attributes.job]\n"
        'from = "table"\n'
        'given = ["edu"]\n'
        'columns = ["a", "b"]\n'
        'rows = [["low", 0.2, 0.8], ["high", 1, 0]]\n'
    )
    found = people(text, 100).report.comparisons[1]
    assert [(f.labels, f.target, f.achieved) for f in found.figures] == [
        (("low", "a"), 10, 10),
        (("low", "b"), 40, 40),
        (("high", "a"), 50, 50),
        (("high", "b"), 0, 0),
    ]
    assert (found.kind, found.freedom) == ("conditional", 1)

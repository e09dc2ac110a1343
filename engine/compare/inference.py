"""How sure a difference between two samples is: tests, intervals and sizes of effects.

Everything random is drawn from a seed, so that the same two runs always compare the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CONFIDENCE = 0.95
LARGE = 30
"""From so many observations on each side Welch's test is made, with fewer a permutation test of the means."""
RESAMPLES = 9_999
MIN_EXPECTED = 5
"""With smaller expected counts the chi-square distribution is no good approximation (Cochran 1954)."""

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Where a difference lies, with 95% confidence."""

    low: float
    high: float


@dataclass(frozen=True)
class Sample:
    """One side of a comparison of numbers."""

    n: int
    mean: float
    sd: float
    median: float


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """How the numbers of b differ from those of a; what cannot be computed is None."""

    a: Sample
    b: Sample
    difference: float
    """Mean of b less mean of a."""
    interval: Interval | None = None
    """Of the difference, after Welch (1947), whatever the test."""
    test: str | None = None
    p: float | None = None
    g: float | None = None
    """Hedges' g: the difference in pooled standard deviations, corrected for small samples."""
    mann_whitney_p: float | None = None
    superiority: float | None = None
    """Probability that a number of b is larger than one of a, ties counted half (Vargha and Delaney 2000)."""
    ks: float | None = None
    """Largest distance of the distribution functions (Kolmogorov and Smirnov)."""
    ks_p: float | None = None


@dataclass(frozen=True)
class Share:
    """How often something occurred on both sides, and the difference of the shares."""

    name: str
    n_a: int
    n_b: int
    share_a: float
    share_b: float
    interval: Interval

    @property
    def difference(self) -> float:
        """Share in b less share in a."""
        return self.share_b - self.share_a


@dataclass(frozen=True)
class Choices:
    """How the choices of b differ from those of a; without two options in all there is no test."""

    n_a: int
    n_b: int
    options: list[Share]
    """Most frequent first."""
    test: str | None = None
    p: float | None = None
    cramers_v: float | None = None


def compare_numbers(a: Column, b: Column, seed: int) -> Numbers:
    """Compare two samples of at least one number each."""
    found = Numbers(a=_describe(a), b=_describe(b), difference=float(b.mean() - a.mean()))
    if min(len(a), len(b)) < 2 or (np.ptp(a) == 0 and np.ptp(b) == 0):
        return found
    with warnings.catch_warnings():
        # SciPy warns of samples without variation, of which nothing is printed that needs it.
        warnings.simplefilter("ignore", RuntimeWarning)
        return _tested(found, a, b, seed)


def compare_choices(a: Mapping[str, int], b: Mapping[str, int], seed: int) -> Choices:
    """Compare how often each option was chosen; both sides have at least one choice."""
    n_a, n_b = sum(a.values()), sum(b.values())
    ranked = sorted({*a, *b}, key=lambda option: (-a.get(option, 0) - b.get(option, 0), option))
    options = [compare_shares(option, a.get(option, 0), n_a, b.get(option, 0), n_b) for option in ranked]
    if len(ranked) < 2:
        return Choices(n_a, n_b, options)
    table = np.array([[side.get(option, 0) for option in ranked] for side in (a, b)])
    found = stats.chi2_contingency(table, correction=False)
    test, p = "chi-square", found.pvalue
    if found.expected_freq.min() < MIN_EXPECTED:
        drawn = stats.MonteCarloMethod(n_resamples=RESAMPLES, rng=np.random.default_rng(seed))
        test, p = (
            "chi-square, simulated",
            stats.chi2_contingency(table, correction=False, method=drawn).pvalue,
        )
    v = stats.contingency.association(table, method="cramer")
    return Choices(n_a, n_b, options, test, float(p), float(v))


def compare_shares(name: str, x_a: int, n_a: int, x_b: int, n_b: int) -> Share:
    """Compare how often something occurred in n_a and n_b trials, at least one each.

    The interval is the hybrid of two Wilson intervals (Newcombe 1998, method 10).
    """
    a, b = x_a / n_a, x_b / n_b
    low_a, high_a = stats.binomtest(x_a, n_a).proportion_ci(CONFIDENCE, "wilson")
    low_b, high_b = stats.binomtest(x_b, n_b).proportion_ci(CONFIDENCE, "wilson")
    below, above = np.hypot(b - low_b, high_a - a), np.hypot(high_b - b, a - low_a)
    return Share(name, x_a, x_b, a, b, Interval(float(b - a - below), float(b - a + above)))


def holm(ps: list[float | None]) -> list[float | None]:
    """Adjust p-values for their number (Holm 1979); a missing one stays missing and does not count."""
    ranked = sorted((p, i) for i, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, i) in enumerate(ranked):
        highest = max(highest, min(1.0, p * (len(ranked) - rank)))
        adjusted[i] = highest
    return adjusted


def _tested(found: Numbers, a: Column, b: Column, seed: int) -> Numbers:
    welch = stats.ttest_ind(b, a, equal_var=False)
    between = welch.confidence_interval(CONFIDENCE)
    is_large = min(len(a), len(b)) >= LARGE
    rank, ks = stats.mannwhitneyu(b, a), stats.ks_2samp(a, b)
    return replace(
        found,
        interval=Interval(float(between.low), float(between.high)),
        test="Welch's t" if is_large else "permutation",
        p=float(welch.pvalue) if is_large else _permutation_p(a, b, seed),
        g=_hedges_g(a, b),
        mann_whitney_p=float(rank.pvalue),
        superiority=float(rank.statistic) / (len(a) * len(b)),
        ks=float(ks.statistic),
        ks_p=float(ks.pvalue),
    )


def _describe(values: Column) -> Sample:
    sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return Sample(len(values), float(values.mean()), sd, float(np.median(values)))


def _permutation_p(a: Column, b: Column, seed: int) -> float:
    rng = np.random.default_rng(seed)
    return float(stats.permutation_test((b, a), _difference, n_resamples=RESAMPLES, rng=rng).pvalue)


def _difference(x: Column, y: Column, axis: int = -1) -> Any:
    return np.mean(x, axis=axis) - np.mean(y, axis=axis)


def _hedges_g(a: Column, b: Column) -> float:
    """Return the standardised difference with its small-sample correction (Hedges 1981)."""
    df = len(a) + len(b) - 2
    pooled = np.sqrt(((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / df)
    return float((b.mean() - a.mean()) / pooled * (1 - 3 / (4 * df - 1)))

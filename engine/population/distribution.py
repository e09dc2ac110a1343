"""Distributions by their scipy names, drawn by their inverse distribution functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import numpy as np

from engine.population.column import DAYS, EPOCH, Numeric
from engine.population.faults import nearest, quoted
from engine.population.streams import Floats

_FEW = 10_000
Parameters = Mapping[str, float | date]
Kind = Literal["integer", "real", "date"]


class BadDistribution(ValueError):
    """A distribution or its parameters cannot be used; the text says why."""


@dataclass(frozen=True)
class Law:
    """How numbers are distributed, and what becomes of them."""

    distribution: str
    kind: Kind = "real"
    at_least: float | date | None = None
    at_most: float | date | None = None
    decimals: int | None = None

    def quantiles(self, parameters: Parameters) -> Quantiles:
        """Return the inverse distribution function. Raises BadDistribution."""
        given = {name: days(value) for name, value in parameters.items()}
        low = -np.inf if self.at_least is None else days(self.at_least)
        high = np.inf if self.at_most is None else days(self.at_most)
        if self.distribution == "uniform" and {"low", "high"} & given.keys():
            bounds = _bounds(given)
            low, high = max(low, bounds[0]), min(high, bounds[1])
            given = self._uniform(*bounds)
        frozen = _frozen(self.distribution, given)
        below, up_to = self._reach(frozen, low, high)
        if not up_to > below:
            raise BadDistribution(f"{self.distribution} gives nothing between {low:g} and {high:g}")
        decimals = self.decimals if self.kind == "real" else 0
        return Quantiles(frozen, below, up_to - below, low, high, decimals, is_date=self.kind == "date")

    def _uniform(self, low: float, high: float) -> dict[str, float]:
        """Return loc and scale; whole numbers are rounded, so both ends get half a number more."""
        half = 0.0 if self.kind == "real" else 0.5
        return {"loc": low - half, "scale": high - low + 2 * half}

    def _reach(self, frozen: Any, low: float, high: float) -> tuple[float, float]:
        """Return the distribution function just below the lowest number and at the highest."""
        if not _is_continuous(frozen.dist):
            low = np.ceil(low) - 1
        elif self.kind != "real":
            low, high = low - 0.5, high + 0.5
        return float(frozen.cdf(low)), float(frozen.cdf(high))


@dataclass(frozen=True)
class Quantiles:
    """An inverse distribution function, cut off at both ends."""

    frozen: Any
    below: float
    within: float
    low: float
    high: float
    decimals: int | None
    is_date: bool = False

    def __call__(self, u: Floats) -> Floats:
        """Return the number at each position in [0, 1). Raises BadDistribution."""
        numbers = self._inverse(self.below + self.within * u)
        if self.decimals == 0:
            numbers = np.floor(numbers + 0.5)
        elif self.decimals is not None:
            numbers = np.round(numbers, self.decimals)
        numbers = np.clip(numbers, self.low, self.high)
        if not np.abs(numbers).max(initial=0) < (np.inf if self.decimals is None else 2**53):
            raise BadDistribution(f"{self.frozen.dist.name} gives numbers that are too large")
        if self.is_date and not ((numbers >= DAYS[0]) & (numbers <= DAYS[1])).all():
            raise BadDistribution(f"{self.frozen.dist.name} gives days that no calendar has")
        return numbers

    def _inverse(self, u: Floats) -> Floats:
        """Return scipy's ppf, by a table where there are few numbers: its own search takes 3 us a number."""
        if not _is_continuous(self.frozen.dist) and len(u) > _FEW:
            low, high = self.frozen.ppf([u.min(), u.max()])
            if high - low < _FEW:
                grid = np.arange(low, high + 1)
                return np.asarray(grid[np.searchsorted(self.frozen.cdf(grid[:-1]), u)])
        return np.asarray(self.frozen.ppf(u))

    def reached(self, numbers: Floats) -> Floats:
        """Return the share of the distribution up to each of some numbers that it can give."""
        if self.decimals is not None and _is_continuous(self.frozen.dist):
            numbers = numbers + 0.5 * 10.0**-self.decimals
        shares: Floats = (self.frozen.cdf(numbers) - self.below) / self.within
        return np.clip(shares, 0.0, 1.0)


def as_column(numbers: Floats, kind: Kind) -> Numeric:
    """Return drawn numbers as a column of a type."""
    return Numeric(numbers if kind == "real" else numbers.astype(np.int64), kind)


def days(value: float | date) -> float:
    """Return a date as days since 1970-01-01, a number as it is."""
    return float(value.toordinal() - EPOCH if isinstance(value, date) else value)


def _bounds(given: dict[str, float]) -> tuple[float, float]:
    if given.keys() != {"low", "high"} or given["low"] > given["high"]:
        raise BadDistribution("uniform takes low and high, low not above high, or else loc and scale")
    return given["low"], given["high"]


def _frozen(name: str, given: dict[str, float]) -> Any:
    from scipy import stats

    kind = getattr(stats, name, None)
    if not isinstance(kind, stats.rv_continuous | stats.rv_discrete):
        known = [
            n for n in dir(stats) if isinstance(getattr(stats, n), stats.rv_continuous | stats.rv_discrete)
        ]
        near = nearest(name, known)
        raise BadDistribution(
            f"scipy.stats has no distribution {quoted(name)}"
            + (f"; did you mean {quoted(near)}?" if near else "")
        )
    takes = f"{name} takes {_parameters(kind)}"
    try:
        with np.errstate(all="ignore"):
            frozen = kind(**given)
            probe = frozen.ppf([0.01, 0.5, 0.99])
    except (TypeError, ValueError) as error:
        raise BadDistribution(takes) from error
    if not np.isfinite(probe).all():
        raise BadDistribution(f"{takes}, but not these values: {given}")
    return frozen


def _parameters(kind: Any) -> str:
    shapes = [kind.shapes] if kind.shapes else []
    return ", ".join([*shapes, "loc", *(["scale"] if _is_continuous(kind) else [])])


def _is_continuous(kind: Any) -> bool:
    return hasattr(kind, "pdf")

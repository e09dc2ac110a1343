"""How close a population is to what was asked: target against achieved for every table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.population.cells import Joint
from engine.population.column import Categorical, Column, Numeric, coded, label
from engine.population.distribution import Parameters
from engine.population.fitting import OfTables
from engine.population.settings import Households
from engine.population.sources import Columns, OfDistribution, OfShares, OfTable, Source, by_row, law

BINS = 10
BINS_OF_ROW = 4


class Figure(msgspec.Struct, frozen=True):
    """One figure of a table, in people."""

    labels: tuple[str, ...]
    target: float
    achieved: int


class Comparison(msgspec.Struct, frozen=True):
    """A table: what was asked, and what the population has."""

    name: str
    kind: str
    """quota, distribution, conditional, margin, joint, microdata or households."""
    attributes: tuple[str, ...]
    figures: list[Figure]
    freedom: int
    """Degrees of freedom of the chi-square."""
    source: str = ""
    """Where the target is from."""

    @property
    def worst(self) -> Figure:
        """The figure that is furthest from its target."""
        return max(self.figures, key=lambda f: abs(f.achieved - f.target))

    @property
    def largest_deviation(self) -> float:
        """The largest difference from a target, in people."""
        return abs(self.worst.achieved - self.worst.target)

    @property
    def chi_square(self) -> float:
        """Pearson's; infinite if there is somebody where nobody should be."""
        total = 0.0
        for figure in self.figures:
            difference = figure.achieved - figure.target
            if difference:
                total += difference**2 / figure.target if figure.target > 0 else np.inf
        return total

    @property
    def p_value(self) -> float:
        """How often chance alone, drawing each person apart, would be at least as far off."""
        from scipy.special import gammaincc

        chi_square = self.chi_square
        if self.freedom < 1 or not np.isfinite(chi_square):
            return float(self.freedom < 1)
        return float(gammaincc(self.freedom / 2, chi_square / 2))


class Fitting(msgspec.Struct, frozen=True):
    """How the fitting of tables went."""

    attributes: tuple[str, ...]
    iterations: int
    deviation: float
    """Largest difference of a figure after fitting, as a share of the population."""
    cells: int


class Report(msgspec.Struct):
    """What there is to say about a population."""

    size: int
    comparisons: list[Comparison] = []
    fittings: list[Fitting] = []
    notes: list[str] = []

    def told(self) -> dict[str, Any]:
        """Return everything in a form that JSON has, deviations and tests included."""
        return {**msgspec.to_builtins(self), "comparisons": [_told(one) for one in self.comparisons]}


def _told(comparison: Comparison) -> dict[str, Any]:
    chi_square = comparison.chi_square
    return {
        **msgspec.to_builtins(comparison),
        "largest_deviation": comparison.largest_deviation,
        "chi_square": chi_square if np.isfinite(chi_square) else None,
        "p_value": comparison.p_value,
    }


def add(report: Report, source: Source, columns: Columns) -> None:
    """Add what a source was asked for and what came of it."""
    match source:
        case OfShares():
            report.comparisons.append(_quota(source, columns[source.names[0]]))
        case OfDistribution():
            report.comparisons.append(_distribution(source, columns[source.names[0]]))
        case OfTable():
            report.comparisons.append(_conditional(source, columns))
        case OfTables():
            report.comparisons += _tables(source.joint, columns, report.size)
            fitted = source.fitted
            if len(source.joint.targets) > 1 or source.joint.records:
                report.fittings.append(
                    Fitting(source.joint.attributes, fitted.iterations, fitted.deviation, len(fitted.cells))
                )


def households(settings: Households, sizes: NDArray[np.int64]) -> Comparison:
    """Return how many households there are of each size."""
    figures = [
        Figure((size,), share * len(sizes), int((sizes == int(size)).sum()))
        for size, share in settings.sizes.items()
    ]
    return Comparison("households", "households", ("household_size",), figures, len(figures) - 1)


def _quota(source: OfShares, column: Column) -> Comparison:
    shares = source.settings.shares
    counts = _counts(column, list(shares))
    figures = [
        Figure((word,), share * len(column), count)
        for (word, share), count in zip(shares.items(), counts, strict=True)
    ]
    return Comparison(source.names[0], "quota", source.names, figures, _freedom(figures))


def _counts(column: Column, words: Sequence[str]) -> list[int]:
    codes, labels = coded(column)
    by_label = dict(zip(labels, np.bincount(codes, minlength=len(labels)).tolist(), strict=True))
    return [int(by_label.get(word, by_label.get(_as_number(word), 0))) for word in words]


def _as_number(word: str) -> str:
    try:
        return label(float(word))
    except ValueError:
        return word


def _freedom(figures: Sequence[Figure]) -> int:
    return max(0, sum(figure.target > 0 for figure in figures) - 1)


def _distribution(source: OfDistribution, column: Column) -> Comparison:
    assert isinstance(column, Numeric)
    figures = list(_binned(source, source.settings.parameters, column, (), BINS))
    return Comparison(source.names[0], "distribution", source.names, figures, len(figures) - 1)


def _binned(
    source: OfDistribution | OfTable,
    parameters: Parameters,
    column: Numeric,
    given: tuple[str, ...],
    bins: int,
) -> Iterator[Figure]:
    """Yield how many have a value in each of a number of ranges that are about equally likely."""
    quantiles = law(source.settings).quantiles(parameters)
    edges = np.unique(quantiles(np.arange(1, bins) / bins))
    shares = np.diff(quantiles.reached(edges), prepend=0.0, append=1.0)
    counts = np.bincount(np.searchsorted(edges, column.array), minlength=len(edges) + 1)
    shown = [_short(value, column.kind) for value in edges]
    labels = [f"up to {shown[0]}", *(f"to {word}" for word in shown[1:]), f"above {shown[-1]}"]
    for word, share, count in zip(labels, shares.tolist(), counts.tolist(), strict=True):
        if share > 0 or count:
            yield Figure((*given, word), share * len(column), count)


def _short(value: Any, kind: str) -> str:
    if kind == "date":
        return str(Numeric(np.array([int(value)]), "date").value(0))
    return f"{value:,.6g}"


def _conditional(source: OfTable, columns: Columns) -> Comparison:
    rows, column = source.rows(columns), columns[source.names[0]]
    figures, freedom = [], 0
    members = dict(by_row(rows))
    for number, row in enumerate(source.settings.rows):
        given = tuple(map(label, row[: len(source.needs)]))
        of_row = list(_row_figures(source, number, given, column.take(members.get(number, rows[:0]))))
        figures += of_row
        freedom += _freedom(of_row)
    name = f"{source.names[0]} given {', '.join(source.needs)}"
    return Comparison(name, "conditional", (*source.needs, *source.names), figures, freedom)


def _row_figures(source: OfTable, number: int, given: tuple[str, ...], column: Column) -> Iterator[Figure]:
    words, shares = source.settings.columns, source.figures[number].tolist()
    if source.settings.distribution:
        assert isinstance(column, Numeric)
        yield from _binned(source, dict(zip(words, shares, strict=True)), column, given, BINS_OF_ROW)
    else:
        for word, share, count in zip(words, shares, _counts(column, words), strict=True):
            yield Figure((*given, word), share * len(column), count)


def _tables(joint: Joint, columns: Columns, size: int) -> Iterator[Comparison]:
    for table in joint.targets:
        labels = {a: table.categories(a) for a in table.attributes}
        codes = {a: _codes(columns[a], labels[a]) for a in table.attributes}
        counts = np.bincount(table.of_cells(codes, labels), minlength=table.dense(labels).size)
        shape = [len(labels[a]) for a in table.attributes]
        figures = []
        for place, share in enumerate(table.dense(labels).ravel().tolist()):
            key = tuple(
                labels[a][int(i)]
                for a, i in zip(table.attributes, np.unravel_index(place, shape), strict=True)
            )
            figures.append(Figure(key, share * size, int(counts[place])))
        kind = "margin" if len(table.attributes) == 1 else "joint"
        yield Comparison(
            table.name, kind, table.attributes, figures, _freedom(figures), table.settings.source
        )


def _codes(column: Column, words: tuple[str, ...]) -> NDArray[Any]:
    codes, labels = coded(column)
    places = {word: i for i, word in enumerate(words)}
    if not isinstance(column, Categorical):
        places |= {_as_number(word): i for i, word in enumerate(words)}
    return np.array([places[word] for word in labels])[codes]

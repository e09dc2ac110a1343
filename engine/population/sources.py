"""The sources of single attributes: shares, distributions, conditional tables, expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.population import evaluate
from engine.population.column import Column, Kind, from_labels
from engine.population.distribution import BadDistribution, Law, as_column
from engine.population.expression import Expression
from engine.population.faults import BadExpression, PopulationError, quoted
from engine.population.functions import Frame
from engine.population.lookup import rows_of_people
from engine.population.quotas import even_positions, largest_remainder
from engine.population.settings import Conditional, Distribution, Shares
from engine.population.streams import Floats, Ints, shuffled, stream, uniform

Columns = Mapping[str, Column]


@dataclass(frozen=True)
class Units:
    """The people, or households, that get values."""

    ids: Ints
    columns: Columns
    frame: Frame

    def __len__(self) -> int:
        return len(self.ids)


class Source(ABC):
    """What makes the values of one or several attributes.

    `needs` are the attributes that have to be there before. `is_random` says that each unit is drawn apart
    from all others, and so can be drawn again alone.
    """

    def __init__(self, names: tuple[str, ...], needs: tuple[str, ...], *, is_random: bool) -> None:
        self.names = names
        self.needs = needs
        self.is_random = is_random

    @abstractmethod
    def draw(self, units: Units, attempt: int = 0) -> dict[str, Column]:
        """Return the values of units. Raises PopulationError."""


class OfShares(Source):
    """Categories with quotas."""

    def __init__(self, name: str, settings: Shares, seed: int) -> None:
        super().__init__((name,), (), is_random=settings.draw == "random")
        self.settings = settings
        self._name = name
        self._seed = stream(seed, name)

    def draw(self, units: Units, attempt: int = 0) -> dict[str, Column]:
        n, shares = len(units), np.array(list(self.settings.shares.values()))
        if self.is_random:
            u = uniform(stream(self._seed, attempt), units.ids)
            codes = np.searchsorted(np.cumsum(shares)[:-1], u, side="right")
        else:
            codes = np.empty(n, dtype=np.int64)
            codes[shuffled(n, self._seed)] = np.repeat(
                np.arange(len(shares)), largest_remainder(shares * n, n)
            )
        return {self._name: from_labels(codes, tuple(self.settings.shares), self.settings.type)}


class OfDistribution(Source):
    """Numbers from a distribution."""

    def __init__(self, name: str, settings: Distribution, seed: int) -> None:
        super().__init__((name,), (), is_random=settings.draw == "random")
        self.settings = settings
        self._name = name
        self._seed = stream(seed, name)

    def draw(self, units: Units, attempt: int = 0) -> dict[str, Column]:
        try:
            numbers = law(self.settings).quantiles(self.settings.parameters)(self._positions(units, attempt))
        except BadDistribution as error:
            raise PopulationError(str(error), "attributes", self._name) from error
        return {self._name: as_column(numbers, self.settings.type)}

    def _positions(self, units: Units, attempt: int) -> Floats:
        if self.is_random:
            return uniform(stream(self._seed, attempt), units.ids)
        n = len(units)
        positions = np.empty(n)
        positions[shuffled(n, self._seed)] = (np.arange(n) + 0.5) / n
        return positions


class OfTable(Source):
    """Shares, or a distribution's parameters, by the values of other attributes."""

    def __init__(self, name: str, settings: Conditional, seed: int) -> None:
        super().__init__((name,), settings.given, is_random=settings.draw == "random")
        self.settings = settings
        self._name = name
        self._seed = stream(seed, name)

    @cached_property
    def figures(self) -> Floats:
        """The numbers of the table, a row for each of its rows."""
        return np.array([[float(x) for x in row[len(self.needs) :]] for row in self.settings.rows])

    def rows(self, columns: Columns) -> Ints:
        """Return each unit's row of the table. Raises PopulationError."""
        keys = [row[: len(self.needs)] for row in self.settings.rows]
        return rows_of_people(self.needs, keys, columns, ("attributes", self._name, "rows"))

    def draw(self, units: Units, attempt: int = 0) -> dict[str, Column]:
        rows = self.rows(units.columns)
        u = (
            uniform(stream(self._seed, attempt), units.ids)
            if self.is_random
            else even_positions(rows, self._seed)
        )
        return {
            self._name: self._numbers(rows, u) if self.settings.distribution else self._categories(rows, u)
        }

    def _categories(self, rows: Ints, u: Floats) -> Column:
        codes = np.zeros(len(rows), dtype=np.int64)
        for end in np.cumsum(self.figures, axis=1).T[:-1]:
            codes += u >= end[rows]
        return from_labels(codes, self.settings.columns, self.settings.type or "categorical")

    def _numbers(self, rows: Ints, u: Floats) -> Column:
        rule, numbers = law(self.settings), np.empty(len(rows))
        for row, members in by_row(rows):
            parameters = dict(zip(self.settings.columns, self.figures[row].tolist(), strict=True))
            try:
                numbers[members] = rule.quantiles(parameters)(u[members])
            except BadDistribution as error:
                raise PopulationError(f"row {row + 1}: {error}", "attributes", self._name) from error
        return as_column(numbers, rule.kind)


class OfExpression(Source):
    """What an expression comes to."""

    def __init__(self, name: str, expression: Expression, kind: Kind | None) -> None:
        super().__init__((name,), expression.names, is_random=True)
        self.expression = expression
        self._name = name
        self._kind = kind

    def draw(self, units: Units, attempt: int = 0) -> dict[str, Column]:
        try:
            return {self._name: evaluate.column(self.expression, units.columns, units.frame, self._kind)}
        except BadExpression as error:
            what = f"{quoted(self.expression.text)}: {error}"
            raise PopulationError(what, "attributes", self._name, "expression") from error


def law(settings: Distribution | Conditional) -> Law:
    """Return how the numbers of an attribute are distributed; a table's rows give the parameters."""
    kind = settings.type if settings.type in ("integer", "date") else "real"
    return Law(settings.distribution or "", kind, settings.at_least, settings.at_most, settings.decimals)


def by_row(rows: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each row of a table that somebody has, and who."""
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    for members in np.split(order, starts[1:]):
        yield int(rows[members[0]]), members

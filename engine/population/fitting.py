"""People drawn from joint tables and margins that are fitted together, and from records where there are
some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from engine.population.cells import Cells, Joint, cells_of
from engine.population.column import Column, from_labels
from engine.population.faults import PopulationError, listed
from engine.population.integerise import integerise
from engine.population.quotas import even_positions
from engine.population.raking import Fitted, Margin, counted, rake
from engine.population.records import Records
from engine.population.settings import Fit
from engine.population.sources import Source, Units
from engine.population.streams import Floats, Ints, shuffled, stream, uniform
from engine.population.tables import check_agreement


class OfTables(Source):
    """Combinations of attributes, with as many people as fitted tables say."""

    def __init__(self, joint: Joint, settings: Fit, seed: int, *, is_random: bool) -> None:
        names = (*joint.attributes, *(joint.records.columns if joint.records else ()))
        super().__init__(tuple(dict.fromkeys(names)), (), is_random=is_random)
        self.joint = joint
        self._seed = stream(seed, *joint.attributes)
        check_agreement(joint.tables, settings.tolerance)
        self._cells, groups = cells_of(joint)
        _check_types(joint, self._cells)
        self.fitted = _fit(joint, self._cells, settings)
        self._shares = self.fitted.cells / self.fitted.cells.sum()
        self._picker = _Picker(joint.records.weights, groups) if joint.records else None

    def draw(self, units: Units, attempt: int = 0) -> dict[str, Column]:
        cell = self._cell_of_each(units, attempt)
        columns: dict[str, Column] = {}
        for name, codes in self._cells.codes.items():
            kind = self.joint.kinds.get(name, "categorical")
            columns[name] = from_labels(codes[cell], self._cells.labels[name], kind)
        if self._picker and self.joint.records:
            seed = stream(self._seed, "record", attempt)
            u = uniform(seed, units.ids) if self.is_random else even_positions(cell, seed)
            records = self._picker.pick(self._cells.group[cell], u)
            columns |= {name: column.take(records) for name, column in self.joint.records.columns.items()}
        return columns

    def _cell_of_each(self, units: Units, attempt: int) -> Ints:
        n = len(units)
        if self.is_random:
            u = uniform(stream(self._seed, "cell", attempt), units.ids)
            return np.searchsorted(np.cumsum(self._shares)[:-1], u, side="right")
        counts = integerise(self._shares * n, n, list(self._figures(n)), stream(self._seed, "round"))
        cell: Ints = np.empty(n, dtype=np.int64)
        cell[shuffled(n, stream(self._seed, "order"))] = np.repeat(np.arange(len(counts)), counts)
        return cell

    def _figures(self, n: int) -> Iterator[Margin]:
        """Yield the tables, and each attribute by itself, in people."""
        for table in self.joint.targets:
            margin = self._cells.margin(table)
            yield Margin(margin.of_cell, margin.targets * n)
        for name, codes in self._cells.codes.items():
            sums = counted(codes, self._shares, len(self._cells.labels[name]))
            yield Margin(codes, sums * n)


class AllRecords(Source):
    """Every record once, in the file's order."""

    def __init__(self, records: Records) -> None:
        super().__init__(tuple(records.columns), (), is_random=False)
        self._records = records

    def draw(self, units: Units, attempt: int = 0) -> dict[str, Column]:
        if len(units) != len(self._records):
            what = f"the microdata have {len(self._records):,} complete records for {len(units):,} people"
            hint = f'with draw = "all" these have to be equal: population.size = {len(self._records)}'
            raise PopulationError(what, "microdata", "draw", hint=hint)
        return dict(self._records.columns)


class _Picker:
    """Finds records of a group by weight."""

    def __init__(self, weights: Floats, groups: Ints) -> None:
        self._order = np.argsort(groups, kind="stable")
        sums = np.cumsum(weights[self._order])
        sizes = np.bincount(groups)
        last = np.cumsum(sizes) - 1
        self._ends = sums
        self._upper = sums[last]
        self._lower = np.concatenate([[0.0], self._upper[:-1]])
        self._last = last

    def pick(self, groups: Ints, u: Floats) -> Ints:
        """Return for each group and position in [0, 1) a record."""
        points = self._lower[groups] + u * (self._upper - self._lower)[groups]
        places = np.searchsorted(self._ends, points, side="right")
        return np.asarray(self._order[np.minimum(places, self._last[groups])])


def _check_types(joint: Joint, cells: Cells) -> None:
    """Raise PopulationError for categories that are not of their attribute's type."""
    for name, kind in joint.kinds.items():
        try:
            from_labels(np.empty(0, dtype=np.int64), cells.labels.get(name, ()), kind)
        except ValueError as error:
            raise PopulationError(str(error), "attributes", name, "type") from error


def _fit(joint: Joint, cells: Cells, settings: Fit) -> Fitted:
    if not joint.targets:
        return Fitted(cells.seed, 0, 0.0, True)
    margins = [cells.margin(table) for table in joint.targets]
    fitted = rake(cells.seed, margins, tolerance=settings.tolerance, max_iterations=settings.max_iterations)
    if not fitted.converged:
        _refuse(joint, cells, fitted, margins)
    return fitted


def _refuse(joint: Joint, cells: Cells, fitted: Fitted, margins: Sequence[Margin]) -> None:
    off = [margin.sums(fitted.cells) - margin.targets for margin in margins]
    worst = max(range(len(off)), key=lambda i: float(np.abs(off[i]).max()))
    place = int(np.argmax(np.abs(off[worst])))
    table, target = joint.targets[worst], margins[worst].targets[place]
    codes = np.unravel_index(place, [len(cells.labels[a]) for a in table.attributes])
    key = [cells.labels[a][code] for a, code in zip(table.attributes, codes, strict=True)]
    hint = "the tables contradict each other, or population.fit.tolerance is too strict for them"
    if margins[worst].sums(cells.seed)[place] == 0:
        source = "no record of the microdata has that" if joint.records else "the seed has nobody like that"
        hint = f"{source}, so that fitting cannot reach it"
    raise PopulationError(
        f"the tables cannot all be met: after {fitted.iterations} rounds {listed(key)} of {table.name} is "
        f"{target + off[worst][place]:.4%}, not {target:.4%}",
        *table.path,
        hint=hint,
    )

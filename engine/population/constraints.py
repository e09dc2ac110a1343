"""Conditions that have to hold for everybody, made to hold.

Who violates one is drawn again where attributes are drawn person by person: that is rejection sampling, so
what comes out is distributed as asked, given that the condition holds. Attributes with quotas cannot be drawn
again; there two people exchange values if that helps, which changes no quota: they exchange all that follows
from these values, too, and have to be alike in what else that depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.population.column import Column, coded
from engine.population.evaluate import holds
from engine.population.expression import Expression
from engine.population.faults import BadExpression, PopulationError, quoted
from engine.population.functions import FUNCTIONS, Frame
from engine.population.order import ancestors, counts_households, descendants
from engine.population.sources import OfExpression, OfTable, Source, Units
from engine.population.streams import Ints, stream, uniform

REDRAWS = 200
SWAPS = 300
PAIRS = 4000
"""Pairs tried in a round, or as many as there are people who violate a condition."""
PATIENCE = 40
"""Rounds of exchanges without any use before giving up."""

Columns = dict[str, Column]


@dataclass(frozen=True)
class Rule:
    """A condition, its place among the constraints from 1, and what it is for."""

    number: int
    expression: Expression
    reason: str = ""

    @property
    def of_household(self) -> bool:
        """Whether it depends on the others of the household."""
        return any(FUNCTIONS[name].of_household for name in self.expression.calls)


class Enforcement:
    """Makes conditions hold, one after the other, on columns that it changes."""

    def __init__(self, units: Units, columns: Columns, seed: int) -> None:
        self._units = units
        self._columns = columns
        self._seed = stream(seed, "constraints")
        self._rules: list[Rule] = []
        self._built: list[Source] = []
        self.n_moved = 0
        """How many had to be drawn again or exchange something."""

    def built(self, source: Source) -> None:
        """Take note of a source whose attributes are there now."""
        self._built.append(source)

    def enforce(self, rule: Rule) -> None:
        """Make one more condition hold, and all before it go on holding. Raises PopulationError."""
        self._rules.append(rule)
        bad = self._violating(rule, self._columns, self._units.frame)
        self.n_moved += int(bad.sum())
        if bad.any():
            bad = self._redraw(rule, bad)
        if not self._is_of_household:
            for source in reversed(ancestors(self._built, rule.expression.names)):
                if bad.any() and not isinstance(source, OfExpression):
                    bad = self._swap(source, bad)
        if bad.any():
            self._refuse(rule, bad)

    @property
    def _is_of_household(self) -> bool:
        return any(rule.of_household for rule in self._rules)

    def _redraw(self, rule: Rule, bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Draw those who violate a rule again until they do not."""
        free = [s for s in ancestors(self._built, rule.expression.names) if self._is_free(s)]
        following = descendants(self._built, free)
        again = [s for s in self._built if s in free or s in following]
        if all(isinstance(source, OfExpression) for source in again):
            return bad
        rows = self._with_households(np.flatnonzero(bad), again)
        for attempt in range(1, REDRAWS + 1):
            units = self._part(rows)
            columns = dict(units.columns)
            for source in again:
                columns |= source.draw(Units(units.ids, columns, units.frame), attempt)
            for source in again:
                self._put(source.names, rows, columns)
            rows = self._with_households(rows[self._any_violated(columns, units.frame)], again)
            if not len(rows):
                break
        return self._any_violated(self._columns, self._units.frame)

    def _is_free(self, source: Source) -> bool:
        return source.is_random and all(s.is_random for s in descendants(self._built, [source]))

    def _with_households(self, rows: Ints, sources: Sequence[Source]) -> Ints:
        """Return the people, and all that they live with if it is about them, too."""
        if not self._is_of_household and not any(map(counts_households, sources)):
            return rows
        starts = self._units.frame.starts
        assert starts is not None
        households = np.unique(np.searchsorted(starts, rows, side="right") - 1)
        is_in = np.zeros(len(starts), dtype=bool)
        is_in[households] = True
        return np.flatnonzero(np.repeat(is_in, np.diff(starts, append=len(self._units))))

    def _part(self, rows: Ints) -> Units:
        starts = self._units.frame.starts
        if starts is not None:
            of_row = np.searchsorted(starts, rows, side="right")
            starts = np.flatnonzero(np.diff(of_row, prepend=-1))
        columns = {name: column.take(rows) for name, column in self._columns.items()}
        return Units(self._units.ids[rows], columns, Frame(len(rows), starts))

    def _swap(self, source: Source, bad: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Let people exchange what a source made, and all that followed from it."""
        moved = [source, *descendants(self._built, [source])]
        computed = [s for s in moved if isinstance(s, OfExpression)]
        if any(map(counts_households, computed)):
            return bad
        exchanged = [s for s in moved if not isinstance(s, OfExpression)]
        partners = _Partners(self._alike(exchanged), self._seed)
        useless = 0
        for turn in range(SWAPS):
            rows = partners.pairs(bad, turn)
            helped = self._exchange(exchanged, computed, rows, bad) if rows.size else 0
            useless = 0 if helped else useless + 1
            if useless > PATIENCE or not bad.any():
                break
        return bad

    def _alike(self, exchanged: Sequence[Source]) -> Ints:
        """Return numbers, equal for people who may exchange what the sources made."""
        made = {name for source in exchanged for name in source.names}
        key: Ints = np.zeros(len(self._units), dtype=np.int64)
        for source in exchanged:
            if isinstance(source, OfTable) and made.isdisjoint(source.needs):
                key = _joined(key, source.rows(self._columns))
            else:
                for name in sorted(set(source.needs) - made):
                    key = _joined(key, coded(self._columns[name])[0])
        return key

    def _exchange(
        self, exchanged: Sequence[Source], computed: Sequence[Source], pairs: Ints, bad: NDArray[np.bool_]
    ) -> int:
        """Exchange values within pairs (two rows of an array) where that leaves fewer violations."""
        rows, other = pairs.ravel(), pairs[::-1].ravel()
        columns = {name: column.take(rows) for name, column in self._columns.items()}
        columns |= {name: self._columns[name].take(other) for s in exchanged for name in s.names}
        for source in computed:
            columns |= source.draw(Units(self._units.ids[rows], columns, Frame(len(rows))))
        after = self._any_violated(columns, Frame(len(rows))).reshape(2, -1)
        helps = np.flatnonzero(after.sum(axis=0) < bad[pairs].sum(axis=0))
        for place in (0, 1):  # each person once
            helps = helps[np.unique(pairs[place, helps], return_index=True)[1]]
        kept = np.concatenate([helps, helps + pairs.shape[1]])
        for source in (*exchanged, *computed):
            self._put(source.names, rows[kept], {name: columns[name].take(kept) for name in source.names})
        bad[rows[kept]] = after.ravel()[kept]
        return len(helps)

    def _put(self, names: Sequence[str], rows: Ints, columns: Columns) -> None:
        for name in names:
            self._columns[name].put(rows, columns[name])

    def _violating(self, rule: Rule, columns: Columns, frame: Frame) -> NDArray[np.bool_]:
        try:
            return ~holds(rule.expression, columns, frame)
        except BadExpression as error:
            what = f"{quoted(rule.expression.text)}: {error}"
            raise PopulationError(what, "constraints", str(rule.number), "require") from error

    def _any_violated(self, columns: Columns, frame: Frame) -> NDArray[np.bool_]:
        violated: NDArray[np.bool_] = np.logical_or.reduce(
            [self._violating(rule, columns, frame) for rule in self._rules]
        )
        return violated

    def _refuse(self, rule: Rule, bad: NDArray[np.bool_]) -> None:
        first = int(np.argmax(bad))
        reason = f" ({rule.reason})" if rule.reason else ""
        known = ", ".join(f"{name} = {self._columns[name].value(first)}" for name in rule.expression.names)
        raise PopulationError(
            f"{quoted(rule.expression.text)} cannot hold{reason} for {int(bad.sum()):,} of {len(bad):,}: "
            f"for example {known}",
            "constraints",
            str(rule.number),
            hint='quotas and tables leave no room for it; draw = "random" lets an attribute give way',
        )


def _joined(key: Ints, codes: Ints) -> Ints:
    """Return numbers that are equal where both of the given ones are."""
    joined: Ints = np.unique(key * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return joined


class _Partners:
    """Finds people to exchange values with."""

    def __init__(self, alike: Ints, seed: int) -> None:
        self._alike = alike
        self._seed = seed
        self._order = np.argsort(alike, kind="stable")
        self._sizes = np.bincount(alike)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def pairs(self, bad: NDArray[np.bool_], turn: int) -> Ints:
        """Return pairs, as two rows of an array, of somebody bad and somebody alike who does not seek.

        Of few that are bad each is in many pairs, so that those are found who alone can help.
        """
        rows = np.flatnonzero(bad)
        seeking = rows[uniform(stream(self._seed, "seek", turn), rows) < 0.7] if len(rows) > 1 else rows
        tries = max(1, PAIRS // max(1, len(seeking)))
        first = np.repeat(seeking, tries)
        group = self._alike[first]
        u = uniform(stream(self._seed, "find", turn), first * tries + np.tile(np.arange(tries), len(seeking)))
        partner = self._order[self._starts[group] + np.floor(u * self._sizes[group]).astype(np.int64)]
        seeks = np.zeros(len(bad), dtype=bool)
        seeks[seeking] = True
        usable = ~seeks[partner]
        return np.stack([first[usable], partner[usable]])

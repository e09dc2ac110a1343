"""The functions of the language of expressions; each works on whole columns at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.population.column import DAYS, Categorical, categorical, parsed
from engine.population.faults import BadExpression

Value = Any
"""What an expression is made of: an array of numbers or truth values, a Categorical, a number, or text."""


@dataclass(frozen=True)
class Frame:
    """How many people there are, and where households begin among them; None if there are none."""

    n: int
    starts: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Function:
    """A function, how many values it takes, and what it does."""

    apply: Callable[..., Value]
    least: int
    most: int
    meaning: str
    of_household: bool = False

    def __call__(self, frame: Frame, name: str, values: Sequence[Value]) -> Value:
        """Return the function of values. Raises BadExpression."""
        if not self.least <= len(values) <= self.most:
            takes = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
            raise BadExpression(f"{name} takes {takes} values, not {len(values)} ({self.meaning})")
        return self.apply(frame, *values)


def number(value: Value) -> Value:
    """Return a value that is a number or truth value, as a number. Raises BadExpression for text."""
    if isinstance(value, str | Categorical | list):
        raise BadExpression(f"{_what(value)} is not a number")
    return value.astype(np.float64) if isinstance(value, np.ndarray) else float(value)


def truth(value: Value) -> Value:
    """Return a value that is true or false. Raises BadExpression for any other."""
    if _is_truth(value):
        return value
    raise BadExpression(f"{_what(value)} is neither true nor false")


def choose(frame: Frame, condition: Value, yes: Value, no: Value) -> Value:
    """Return for each person one value or the other."""
    condition = np.broadcast_to(np.asarray(truth(condition)), frame.n)
    if isinstance(yes, str | Categorical) or isinstance(no, str | Categorical):
        return _choose_text(frame, condition, yes, no)
    if _is_truth(yes) and _is_truth(no):
        return np.where(condition, yes, no)
    return np.where(condition, number(yes), number(no))


def as_categorical(frame: Frame, value: Value) -> Categorical:
    """Return text as a column. Raises BadExpression for numbers."""
    if isinstance(value, str):
        return categorical(np.zeros(frame.n, dtype=np.int8), [value])
    if isinstance(value, Categorical):
        return value
    raise BadExpression(f"{_what(value)} is not text")


def day(value: Value) -> Value:
    """Return a date, given as text or as an attribute, as days since 1970-01-01."""
    if isinstance(value, str):
        try:
            return float(parsed(value, "date"))
        except ValueError as error:
            raise BadExpression(str(error)) from error
    return number(value)


def _choose_text(frame: Frame, condition: NDArray[np.bool_], yes: Value, no: Value) -> Categorical:
    a, b = as_categorical(frame, yes), as_categorical(frame, no)
    categories = tuple(dict.fromkeys(a.categories + b.categories))
    places = {category: i for i, category in enumerate(categories)}
    of_a, of_b = (np.array([places[c] for c in x.categories], dtype=np.int64) for x in (a, b))
    return categorical(np.where(condition, of_a[a.codes], of_b[b.codes]), categories)


def _case(frame: Frame, *values: Value) -> Value:
    if len(values) % 2 == 0:
        raise BadExpression("case takes conditions and values in turn, then the value for all others")
    *cases, result = values
    for condition, value in zip(cases[-2::-2], cases[::-2], strict=True):
        result = choose(frame, condition, value, result)
    return result


def _band(frame: Frame, value: Value, *bounds: Value) -> Categorical:
    if any(not isinstance(b, int | float) or b != int(b) for b in bounds):
        raise BadExpression("the bounds of band are whole numbers")
    whole = [int(b) for b in bounds]
    if any(a >= b for a, b in pairwise(whole)):
        raise BadExpression("the bounds of band go up")
    labels = [f"under {whole[0]}", *(_range(a, b - 1) for a, b in pairwise(whole)), f"{whole[-1]}+"]
    numbers = np.broadcast_to(np.asarray(number(value)), frame.n)
    return categorical(np.searchsorted(np.array(whole), numbers, side="right"), labels)


def _range(low: int, high: int) -> str:
    return f"{low}-{high}" if high > low else f"{low}"


def _calendar(unit: str) -> Callable[[Frame, Value], Value]:
    def part(_: Frame, value: Value) -> Value:
        years, months = _split(day(value))
        return years if unit == "year" else months

    return part


def _age(_: Frame, born: Value, on: Value) -> Value:
    """Whole years, as birthdays count them."""
    born, on = day(born), day(on)
    (y0, m0), (y1, m1) = _split(born), _split(on)
    d0, d1 = _day_of_month(born), _day_of_month(on)
    return y1 - y0 - ((m1 < m0) | ((m1 == m0) & (d1 < d0)))


def _split(days: Value) -> tuple[Value, Value]:
    months = _dates(days).astype("datetime64[M]").astype(np.int64)
    return np.floor(months / 12.0) + 1970, np.asarray(months % 12 + 1, dtype=np.float64)


def _day_of_month(days: Value) -> Value:
    dates = _dates(days)
    return (dates - dates.astype("datetime64[M]")).astype(np.int64) + 1


def _dates(days: Value) -> NDArray[np.datetime64]:
    whole = np.asarray(days, dtype=np.float64)
    if not ((whole >= DAYS[0]) & (whole <= DAYS[1])).all():
        raise BadExpression("a number that is no date")
    return whole.astype(np.int64).astype("datetime64[D]")


def _elementwise(function: Callable[..., Value]) -> Callable[..., Value]:
    return lambda _, *values: function(*map(number, values))


def _rounded(_: Frame, value: Value, digits: Value = 0.0) -> Value:
    if not isinstance(digits, int | float) or digits not in range(-12, 13):
        raise BadExpression("round takes digits from -12 to 12")
    return np.round(number(value), int(digits))


def _extreme(function: np.ufunc) -> Callable[..., Value]:
    return lambda _, *values: reduce(function, map(number, values))


def _per_household(function: np.ufunc, *, counts: bool = False) -> Callable[[Frame, Value], Value]:
    def over(frame: Frame, value: Value) -> Value:
        numbers = truth(value) if counts else value
        filled = np.broadcast_to(np.asarray(number(numbers)), frame.n)
        return _spread(frame, function.reduceat(filled, _starts(frame)) if frame.n else filled)

    return over


def _household_mean(frame: Frame, value: Value) -> Value:
    sums = _per_household(np.add)(frame, value)
    return sums / _spread(frame, _sizes(frame).astype(np.float64))


def _first(frame: Frame, value: Value) -> Value:
    value = as_categorical(frame, value) if isinstance(value, str) else value
    rows = np.repeat(_starts(frame), _sizes(frame))
    if isinstance(value, Categorical):
        return value.take(rows)
    return np.broadcast_to(np.asarray(value), frame.n)[rows]


def _spread(frame: Frame, values: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(values, _sizes(frame))


def _sizes(frame: Frame) -> NDArray[np.int64]:
    return np.diff(_starts(frame), append=frame.n)


def _starts(frame: Frame) -> NDArray[np.int64]:
    if frame.starts is None:
        raise BadExpression("there are no households")
    return frame.starts


def _is_truth(value: Value) -> bool:
    return isinstance(value, bool | np.bool_) or (isinstance(value, np.ndarray) and value.dtype == np.bool_)


def _what(value: Value) -> str:
    if isinstance(value, Categorical):
        return f"text (such as {value.categories[0]!r})" if value.categories else "text"
    if isinstance(value, list):
        return "a list, which stands only after `in`,"
    return f"{value!r}" if isinstance(value, str | int | float) else "a column of numbers"


FUNCTIONS = {
    "abs": Function(_elementwise(np.abs), 1, 1, "size without sign"),
    "age": Function(_age, 2, 2, 'whole years from a date of birth to a day: age(born, "2024-05-01")'),
    "band": Function(
        _band, 2, 40, 'the range that a number is in: band(age, 18, 65) is "under 18", "18-64" or "65+"'
    ),
    "case": Function(_case, 3, 101, "case(a, x, b, y, z): x where a holds, else y where b holds, else z"),
    "ceil": Function(_elementwise(np.ceil), 1, 1, "the whole number above"),
    "date": Function(
        lambda _, value: day(value), 1, 1, 'a day, to compare others with: born < date("2000-01-01")'
    ),
    "exp": Function(_elementwise(np.exp), 1, 1, "exponential function"),
    "floor": Function(_elementwise(np.floor), 1, 1, "the whole number below"),
    "log": Function(_elementwise(np.log), 1, 1, "natural logarithm"),
    "max": Function(_extreme(np.maximum), 2, 40, "the largest of several values"),
    "min": Function(_extreme(np.minimum), 2, 40, "the smallest of several values"),
    "month": Function(_calendar("month"), 1, 1, "the month of a date, 1 to 12"),
    "round": Function(_rounded, 1, 2, "rounded, to digits after the point if a second value is given"),
    "sqrt": Function(_elementwise(np.sqrt), 1, 1, "square root"),
    "year": Function(_calendar("year"), 1, 1, "the year of a date"),
    "household_count": Function(
        _per_household(np.add, counts=True), 1, 1, "members of the household for whom a condition holds", True
    ),
    "household_first": Function(_first, 1, 1, "the value of the household's first member", True),
    "household_max": Function(_per_household(np.maximum), 1, 1, "the largest value in the household", True),
    "household_mean": Function(_household_mean, 1, 1, "the mean value in the household", True),
    "household_min": Function(_per_household(np.minimum), 1, 1, "the smallest value in the household", True),
    "household_sum": Function(_per_household(np.add), 1, 1, "the sum of the values in the household", True),
}

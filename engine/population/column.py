"""One attribute of everybody: an array, for attributes are never kept person by person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Kind = Literal["categorical", "integer", "real", "date", "boolean"]
Value = str | int | float | bool | date

EPOCH = date(1970, 1, 1).toordinal()
"""Dates are kept as days since 1970-01-01."""
DAYS = (date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH)
"""The first and the last day that there is: of the years 1 to 9999."""
_WHOLE = (np.int8, np.int16, np.int32, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Categorical:
    """Words out of a list, kept as their places in it."""

    codes: Array
    categories: tuple[str, ...]

    kind: Literal["categorical"] = "categorical"

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Array) -> Categorical:
        """Return the column of some of the people."""
        return Categorical(self.codes[rows], self.categories)

    def put(self, rows: Array, other: Column) -> None:
        """Overwrite the values of some of the people."""
        assert isinstance(other, Categorical)
        assert other.categories == self.categories
        self.codes[rows] = other.codes

    def value(self, row: int) -> str:
        """Return one person's value."""
        return self.categories[int(self.codes[row])]

    def values(self) -> list[Value]:
        """Return everybody's values."""
        return [self.categories[code] for code in self.codes.tolist()]

    def lock(self) -> None:
        """Make the column read-only."""
        self.codes.flags.writeable = False

    def compact(self) -> Categorical:
        """Return the column in as few bytes as will do."""
        return categorical(self.codes, self.categories)


@dataclass(frozen=True, slots=True, eq=False)
class Numeric:
    """Numbers, truth values, or dates as days since 1970-01-01."""

    array: Array
    kind: Literal["integer", "real", "date", "boolean"]

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: Array) -> Numeric:
        """Return the column of some of the people."""
        return Numeric(self.array[rows], self.kind)

    def put(self, rows: Array, other: Column) -> None:
        """Overwrite the values of some of the people."""
        assert isinstance(other, Numeric)
        assert other.kind == self.kind
        self.array[rows] = other.array

    def value(self, row: int) -> Value:
        """Return one person's value."""
        return self._shown(self.array[row].item())

    def values(self) -> list[Value]:
        """Return everybody's values."""
        return [self._shown(value) for value in self.array.tolist()]

    def lock(self) -> None:
        """Make the column read-only."""
        self.array.flags.writeable = False

    def compact(self) -> Numeric:
        """Return the column in as few bytes as will do."""
        if self.kind not in ("integer", "date") or not len(self.array):
            return self
        low, high = int(self.array.min()), int(self.array.max())
        fits = next(t for t in _WHOLE if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
        return Numeric(self.array.astype(fits), self.kind)

    def _shown(self, value: Any) -> Value:
        return date.fromordinal(EPOCH + value) if self.kind == "date" else value


Column = Categorical | Numeric


def categorical(codes: Array, categories: Sequence[str]) -> Categorical:
    """Return a column of words, with codes in as few bytes as will do."""
    return Categorical(codes.astype(np.min_scalar_type(max(0, len(categories) - 1))), tuple(categories))


def coded(column: Column) -> tuple[Array, tuple[str, ...]]:
    """Return a column as codes and the label of each code; labels of numbers are as they are written."""
    if isinstance(column, Categorical):
        return column.codes, column.categories
    values, codes = np.unique(column.array, return_inverse=True)
    return codes, tuple(label(value) for value in Numeric(values, column.kind).values())


def label(value: object) -> str:
    """Return a value as it is written in tables: true, 12, 0.5, 2024-12-31."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def in_words(value: object) -> str:
    """Return a value as people write it: a real number whole from 10 on, else with three digits."""
    if type(value) is not float:
        return str(value)
    return f"{value:.0f}" if abs(value) >= 9.995 else f"{value:.3g}"


def from_labels(codes: Array, labels: Sequence[str], kind: Kind) -> Column:
    """Return the column of a type whose values are written as labels. Raises ValueError naming a wrong
    one."""
    if kind == "categorical":
        return categorical(codes, labels)
    values = np.array([parsed(text, kind) for text in labels])
    return Numeric(values[codes], kind)


def parsed(text: str, kind: Kind) -> int | float | bool:
    """Return the number that a label of a type other than categorical stands for. Raises ValueError."""
    text = text.strip()
    try:
        if kind == "boolean":
            return {"true": True, "false": False, "1": True, "0": False}[text.lower()]
        if kind == "date":
            return date.fromisoformat(text).toordinal() - EPOCH
        if kind == "integer":
            return _whole(text)
        value = float(text)
    except (ValueError, KeyError, OverflowError):
        raise ValueError(f"{text[:60]!r} is not {NAMES[kind]}") from None
    if not np.isfinite(value):
        raise ValueError(f"{text[:60]!r} is not a finite number")
    return value


def _whole(text: str) -> int:
    number = float(text) if len(text) < 40 else float("nan")
    if not number.is_integer() or abs(number) > 2**53:
        raise ValueError(text)
    return int(number)


NAMES = {
    "categorical": "text",
    "integer": "a whole number",
    "real": "a number",
    "date": "a date such as 2024-12-31",
    "boolean": "true or false",
}

"""Lists of answers: one reply that holds several numbers, choices, texts or objects."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from engine.models.answers import Choice, Json, JsonSchema, Number, Problem, Text, Unreadable

Item = Number | Choice | Text | Json


class List:
    """Ask for a JSON list of `least` to `most` items, each an answer of the same form.

    Raises ValueError for an item with `reasoning`: a list is reasoned about as a whole.
    """

    def __init__(self, item: Item, least: int, most: int, reasoning: int = 0) -> None:
        if not 0 <= least <= most:
            raise ValueError(f"a list cannot have {least} to {most} items")
        if not isinstance(item, Text) and (item.wire if isinstance(item, Json) else item).reasoning:
            raise ValueError("give `reasoning` to the list, not to its items")
        self.item = item
        self.least = least
        self.most = most
        self.wire = JsonSchema(_schema(item, least, most), reasoning)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, List) and (self.item, self.wire) == (other.item, other.wire)

    def __hash__(self) -> int:
        return hash((self.item, self.least, self.most))

    def parse(self, text: str) -> list[Any]:
        """Return the items. Raises Unreadable."""
        values = self.wire.parse(text)
        if not isinstance(values, list):
            raise Unreadable(Problem.UNPARSED, "reply with one JSON list")
        if not self.least <= len(values) <= self.most:
            wanted = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
            raise Unreadable(Problem.OUT_OF_RANGE, f"reply with a list of {wanted} items, not {len(values)}")
        return [self._read(number, value) for number, value in enumerate(values, start=1)]

    def _read(self, number: int, value: Any) -> Any:
        try:
            return _answer(self.item, value)
        except Unreadable as error:
            raise Unreadable(error.problem, f"item {number} of the list: {error.detail}") from error


def _answer(item: Item, value: Any) -> Any:
    """Read one item as if it had been a reply of its own. Raises Unreadable."""
    if isinstance(item, Json):
        return item.convert(value)
    if isinstance(item, Number) and isinstance(value, int | float) and not isinstance(value, bool):
        return item.parse(format(Decimal(repr(value)), "f"))
    if not isinstance(item, Number) and isinstance(value, str):
        return item.parse(value)
    kind = "number" if isinstance(item, Number) else "text"
    raise Unreadable(Problem.UNPARSED, f"a {kind} was asked for, not {type(value).__name__}")


def _schema(item: Item, least: int, most: int) -> dict[str, Any]:
    one = _item_schema(item)
    shared = {"$defs": one.pop("$defs")} if "$defs" in one else {}
    return {"type": "array", "items": one, "minItems": least, "maxItems": most, **shared}


def _item_schema(item: Item) -> dict[str, Any]:
    match item:
        case Number():
            return _number_schema(item)
        case Choice():
            return {"enum": list(item.options)}
        case Text():
            return {"type": "string", "minLength": 1, "maxLength": item.max_chars}
        case Json():
            return dict(item.wire.schema)


def _number_schema(item: Number) -> dict[str, Any]:
    if not item.grid:
        raise ValueError(f"there is no number from {item.low:g} to {item.high:g}")
    if item.decimals == 0:
        return {"type": "integer", "minimum": item.grid[0], "maximum": item.grid[-1]}
    scale = 10**item.decimals
    bounds = {"minimum": item.grid[0] / scale, "maximum": item.grid[-1] / scale}
    return {"type": "number", **bounds, "multipleOf": 1 / scale}

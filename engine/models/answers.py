"""The forms of answer that an agent can ask for, and how each is read from a reply.

Reading is strict. What a backend can enforce while the model writes (a grammar, a schema) it enforces; what
comes back is parsed here all the same, because not every backend can.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from enum import StrEnum
from typing import Any

import msgspec

MARK = "ANSWER:"
"""Ends free reasoning: with `reasoning` above 0, what counts is what follows the last such mark."""

MAX_ANSWER_CHARS = 20_000
"""A longer reply is not parsed at all: no answer that is asked for here comes near it."""

_NUMBER = re.compile(r"\s*([-+]?[0-9]{1,30}(?:\.([0-9]{1,30}))?)\s*")


class Problem(StrEnum):
    """Kinds of failed reply that the ledger counts."""

    UNPARSED = "unparsed"
    OUT_OF_RANGE = "out of range"
    REFUSED = "refused"
    REPAIRED = "repaired"
    """There is a value, but it was not written as asked."""
    RESENT = "sent again"
    """There is a reply, but servers had failed at it before: that costs requests, and changes no answer."""
    TRUNCATED = "truncated"
    CONTEXT = "context cut"
    TIMED_OUT = "timed out"
    SERVER = "server error"


class Unreadable(Exception):
    """A reply that does not hold the answer asked for; `detail` is fit to be quoted back to the model."""

    def __init__(self, problem: Problem, detail: str) -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail


class Number(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """A number from `low` to `high`, both included.

    `decimals` is how many digits may follow the point (0: whole numbers). With `reasoning` above 0 the model
    may write about so many tokens freely, then the mark, then the number.
    """

    low: float
    high: float
    decimals: int = 0
    reasoning: int = 0

    @property
    def grid(self) -> range:
        """The admissible numbers, in units of the last decimal; empty if there is none."""
        scale = Decimal(10) ** self.decimals
        least = (Decimal(repr(self.low)) * scale).to_integral_value(ROUND_CEILING)
        most = (Decimal(repr(self.high)) * scale).to_integral_value(ROUND_FLOOR)
        return range(int(least), int(most) + 1)

    def parse(self, text: str) -> float:
        """Return the number in a reply. Raises Unreadable."""
        found = _NUMBER.fullmatch(_conclusion(text) if self.reasoning else text)
        if found is None:
            raise Unreadable(Problem.UNPARSED, f"reply with one number {self._bounds}")
        if len((found[2] or "").rstrip("0")) > self.decimals:
            kind = f"number with at most {self.decimals} decimals" if self.decimals else "whole number"
            raise Unreadable(Problem.UNPARSED, f"reply with one {kind} {self._bounds}")
        value = float(found[1])
        if not self.low <= value <= self.high:
            raise Unreadable(Problem.OUT_OF_RANGE, f"{value:.15g} is not {self._bounds}")
        return value

    @property
    def _bounds(self) -> str:
        """In words; putting numbers into words costs more than reading one, so only a complaint does it."""
        return f"from {self.low:.15g} to {self.high:.15g}"


class Choice(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """One of the options, word for word (case and surrounding space do not matter)."""

    options: tuple[str, ...]
    reasoning: int = 0

    def parse(self, text: str) -> str:
        """Return the option chosen. Raises Unreadable."""
        given = (_conclusion(text) if self.reasoning else text).strip().casefold()
        for option in self.options:
            if option.casefold() == given:
                return option
        raise Unreadable(Problem.UNPARSED, "reply with one of: " + ", ".join(self.options))


class Text(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """Free text of at most `max_chars` characters and not empty."""

    max_chars: int = 4000

    def parse(self, text: str) -> str:
        """Return the text without surrounding space. Raises Unreadable."""
        text = text.strip()
        if not text:
            raise Unreadable(Problem.UNPARSED, "the reply is empty")
        if len(text) > self.max_chars:
            raise Unreadable(Problem.OUT_OF_RANGE, f"reply with at most {self.max_chars} characters")
        return text


class JsonSchema(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """A JSON object after a schema; made by `Json(struct)`, which also knows the struct to build."""

    schema: dict[str, Any]
    reasoning: int = 0

    def parse(self, text: str) -> Any:
        """Return the decoded object, unchecked against the schema. Raises Unreadable."""
        try:
            return msgspec.json.decode(_conclusion(text) if self.reasoning else text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise Unreadable(Problem.UNPARSED, f"reply with one JSON object ({error})") from error


Answer = Number | Choice | Text | JsonSchema


class Json:
    """Ask for a msgspec struct: the schema goes to the model, the struct comes back."""

    def __init__(self, struct: type[msgspec.Struct], reasoning: int = 0) -> None:
        self.struct = struct
        self.wire = JsonSchema(msgspec.json.schema(struct), reasoning)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json) and (self.struct, self.wire) == (other.struct, other.wire)

    def __hash__(self) -> int:
        return hash(self.struct)

    def parse(self, text: str) -> Any:
        """Return an instance of the struct. Raises Unreadable."""
        return self.convert(self.wire.parse(text))

    def convert(self, value: Any) -> Any:
        """Return the instance that a decoded JSON value stands for. Raises Unreadable."""
        try:
            return msgspec.convert(value, self.struct)
        except msgspec.ValidationError as error:
            raise Unreadable(Problem.UNPARSED, f"the JSON object does not fit: {error}") from error


def with_mark(answer: Answer, text: str) -> str:
    """Return the text of an answer as a reply, with the mark where the model may reason before it."""
    return text if isinstance(answer, Text) or not answer.reasoning else f"{MARK} {text}"


def _conclusion(text: str) -> str:
    """Return what follows the last mark. Raises Unreadable if there is none."""
    _, mark, conclusion = text.rpartition(MARK)
    if not mark:
        raise Unreadable(Problem.UNPARSED, f"end the reply with a line {MARK} and the answer")
    return conclusion

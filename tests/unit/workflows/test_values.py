"""Values arrive as they were sent, or the error says which did not, and where."""

import math
from dataclasses import dataclass

import msgspec
import pytest

from engine.workflows.failures import Unsendable
from engine.workflows.methods import method_of
from engine.workflows.values import decode_result, encode


class Note(msgspec.Struct):
    text: str
    stars: tuple[int, ...] = ()


@dataclass
class Point:
    x: float


class Writer:
    def anything(self, value):
        return value

    def note(self, value: Note) -> Note:
        return value

    def points(self, value: list[Point]) -> list[Point]:
        return value

    def number(self, value: int) -> int:
        return value

    def tags(self, value: set[str]) -> set[str]:
        return value


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("anything", None),
        ("anything", [1, 2.5, "text", b"bytes", {"key": [True]}]),
        ("anything", {1: "one"}),
        ("note", Note("well", (1, 2))),
        ("points", [Point(1.0), Point(2.0)]),
        ("tags", {"one", "two"}),
    ],
)
def test_what_msgpack_or_an_annotation_can_say_comes_back(method: str, value: object) -> None:
    known = method_of(Writer, method)
    back = decode_result(encode(value, known), known)
    assert back == value
    assert type(back) is type(value)


def test_not_a_number_may_be_in_a_list() -> None:
    known = method_of(Writer, "anything")
    (back,) = decode_result(encode([math.nan], known), known)
    assert math.isnan(back)


@pytest.mark.parametrize(
    ("method", "value", "word"),
    [
        ("anything", (1, 2), "tuple"),
        ("anything", [{1, 2}], "list"),
        ("anything", Note("well"), "Note"),
        ("anything", object(), "object"),
        ("anything", [object()], "object"),
        ("anything", 1 << 70, "sent"),
        ("anything", lambda: 1, "function"),
        ("note", [1], "annotation"),
    ],
)
def test_what_would_arrive_as_something_else_is_refused_by_name(
    method: str, value: object, word: str
) -> None:
    with pytest.raises(Unsendable) as refused:
        encode(value, method_of(Writer, method))
    assert word in str(refused.value)
    assert f"Writer.{method}" in str(refused.value)

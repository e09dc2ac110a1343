"""Lists of answers: what a model is asked for, and how it is read."""

from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.answer_list import Item, List
from engine.models.answers import Choice, Json, Number, Problem, Text, Unreadable
from engine.models.dummy_json import fill


class Offer(msgspec.Struct):
    price: float
    item: str


ITEMS: list[Item] = [
    Number(0, 100), Number(-1.5, 1.5), Number(0, 1, 2), Choice(("a", "b")), Text(40), Json(Offer)
]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "text", "items"),
    [
        (Number(0, 100), "[1, 2.0, 100]", [1, 2, 100]),
        (Number(0, 1, 2), "[0.25, 1]", [0.25, 1]),
        (Choice(("a", "b")), '["b", " A "]', ["b", "a"]),
        (Text(), '["x", " y "]', ["x", "y"]),
        (Json(Offer), '[{"price": 1, "item": "pear"}]', [Offer(1, "pear")]),
    ],
)  # fmt: skip
def test_items_are_read_as_if_each_had_been_a_reply(item: Item, text: str, items: list[Any]) -> None:
    assert List(item, 1, 3).parse(text) == items


@pytest.mark.parametrize(
    ("item", "text", "kind", "told"),
    [
        (Number(0, 9), "[1, 10]", Problem.OUT_OF_RANGE, "item 2 of the list: 10 is not from 0 to 9"),
        (Number(0, 9), "[1.5]", Problem.UNPARSED, "item 1 of the list: reply with one whole number"),
        (Number(0, 9), "[true]", Problem.UNPARSED, "a number was asked for, not bool"),
        (Number(0, 9), '["1"]', Problem.UNPARSED, "a number was asked for, not str"),
        (Number(0, 9), "[1e400]", Problem.UNPARSED, ""),
        (Choice(("a", "b")), "[1]", Problem.UNPARSED, "a text was asked for, not int"),
        (Choice(("a", "b")), '["c"]', Problem.UNPARSED, "item 1 of the list: reply with one of: a, b"),
        (Text(2), '["abc"]', Problem.OUT_OF_RANGE, "at most 2 characters"),
        (Json(Offer), '[{"price": 1}]', Problem.UNPARSED, "item 1 of the list: the JSON object does not fit"),
        (Text(), "[]", Problem.OUT_OF_RANGE, "reply with a list of 1 to 3 items, not 0"),
        (Text(), '["a", "a", "a", "a"]', Problem.OUT_OF_RANGE, "not 4"),
        (Text(), '"a"', Problem.UNPARSED, "one JSON list"),
        (Text(), "a, b", Problem.UNPARSED, ""),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_item(item: Item, text: str, kind: Problem, told: str) -> None:
    with pytest.raises(Unreadable) as caught:
        List(item, 1, 3).parse(text)
    assert caught.value.problem is kind
    assert told in caught.value.detail


@given(st.sampled_from(ITEMS), st.integers(0, 4), st.integers(0, 3), st.floats(0, 1, exclude_max=True))
def test_what_fits_the_schema_is_read(item: Item, least: int, more: int, u: float) -> None:
    asked = List(item, least, least + more)
    text = fill(asked.wire.schema, u)
    assert len(asked.parse(text)) == least


@pytest.mark.parametrize("item", ITEMS)
def test_the_schema_is_a_valid_one(item: Item) -> None:
    jsonschema.Draft202012Validator.check_schema(List(item, 1, 3).wire.schema)


def test_the_bounds_of_the_schema_are_admissible_numbers() -> None:
    assert List(Number(0.5, 9.5), 1, 1).wire.schema["items"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
    }


@pytest.mark.parametrize(
    "make",
    [
        lambda: List(Text(), 3, 2),
        lambda: List(Text(), -1, 2),
        lambda: List(Number(0, 1, reasoning=5), 1, 1),
        lambda: List(Json(Offer, reasoning=5), 1, 1),
        lambda: List(Number(0.2, 0.8), 1, 1),
    ],
)
def test_impossible_lists_are_refused_at_once(make: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        make()


def test_equal_lists_are_one_form() -> None:
    assert List(Json(Offer), 1, 2) == List(Json(Offer), 1, 2)
    assert len({List(Number(0, 9), 1, 2), List(Number(0, 9), 1, 2), List(Number(0, 9), 1, 3)}) == 2

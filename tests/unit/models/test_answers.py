"""Reading answers out of replies: strict, and never anything but a value or Unreadable."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.answers import Choice, Json, JsonSchema, Number, Problem, Text, Unreadable, with_mark

GUESS = Number(0, 100)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("100", 100), (" 33\n", 33), ("+7", 7), ("007", 7), ("33.0", 33), ("-0", 0)],
)
def test_whole_numbers(text: str, value: float) -> None:
    assert GUESS.parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "forty", "40 percent", "40%", "I say 40", "40 or 50", "4 0", "1e1", "0x10", "1_0", "40.",
        ".5", "--4", "nan", "inf", "\u0664\u0660", "\uff14\uff10", "40\x00", "33,3", "1" * 31,
    ],
)  # fmt: skip
def test_what_is_not_a_number_alone_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        GUESS.parse(text)
    assert caught.value.problem is Problem.UNPARSED
    assert caught.value.detail == "reply with one number from 0 to 100"


@pytest.mark.parametrize(
    ("answer", "text", "told"),
    [
        (GUESS, "33.3", "reply with one whole number from 0 to 100"),
        (Number(0, 1, 2), "0.333", "reply with one number with at most 2 decimals from 0 to 1"),
    ],
)
def test_more_decimals_than_were_asked_for(answer: Number, text: str, told: str) -> None:
    with pytest.raises(Unreadable, match=told) as caught:
        answer.parse(text)
    assert caught.value.problem is Problem.UNPARSED


def test_decimals_that_were_asked_for() -> None:
    assert Number(0, 1, 2).parse("0.33") == 0.33
    assert Number(0, 1, 2).parse("0.3300") == 0.33
    assert Number(0, 1, 2).parse("1") == 1


@pytest.mark.parametrize("text", ["-1", "101", "100.5", "9" * 30])
def test_numbers_out_of_range(text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        Number(0, 100, 1).parse(text)
    assert caught.value.problem is Problem.OUT_OF_RANGE
    assert "is not from 0 to 100" in caught.value.detail


def test_large_bounds_are_told_in_full() -> None:
    with pytest.raises(Unreadable, match=r"from 0\.1 to 1234567$"):
        Number(0.1, 1_234_567).parse("many")


@given(st.text())
def test_a_number_or_unreadable_and_nothing_else(text: str) -> None:
    try:
        value = Number(-5, 5, 3).parse(text)
    except Unreadable:
        return
    assert -5 <= value <= 5


@given(st.decimals(-1000, 1000, places=3))
def test_every_number_of_the_grid_is_read_exactly(number: object) -> None:
    assert Number(-1000, 1000, 3).parse(f" {number}") == float(str(number))


def test_reasoning_comes_before_the_last_mark() -> None:
    answer = Number(0, 100, reasoning=100)
    assert answer.parse("Perhaps ANSWER: 50? No.\nANSWER: 33\n") == 33
    with pytest.raises(Unreadable, match="end the reply with a line ANSWER:"):
        answer.parse("33")
    with pytest.raises(Unreadable, match="reply with one number"):
        answer.parse("ANSWER: 33. Or so.")


def test_a_choice_is_word_for_word_but_for_case_and_space() -> None:
    choice = Choice(("Cooperate", "Défect", "Straße"))
    assert choice.parse(" cooperate\n") == "Cooperate"
    assert choice.parse("DÉFECT") == "Défect"
    assert choice.parse("STRASSE") == "Straße"
    for text in ("coop", "I cooperate", "", "Cooperate."):
        with pytest.raises(Unreadable, match="reply with one of: Cooperate, Défect, Straße"):
            choice.parse(text)


def test_a_choice_after_reasoning() -> None:
    assert Choice(("a", "b"), reasoning=5).parse("a is bad. ANSWER: b") == "b"


def test_a_text_is_stripped_and_bounded() -> None:
    text = Text(max_chars=5)
    assert text.parse("  abcde\n") == "abcde"
    with pytest.raises(Unreadable) as caught:
        text.parse("abcdef")
    assert caught.value.problem is Problem.OUT_OF_RANGE
    with pytest.raises(Unreadable) as caught:
        text.parse(" \n\t ")
    assert caught.value.problem is Problem.UNPARSED


class Offer(msgspec.Struct):
    price: float
    tags: list[str] = []


def test_a_struct_is_built_from_json() -> None:
    assert Json(Offer).parse('{"price": 2, "tags": ["a"]}') == Offer(2.0, ["a"])
    assert Json(Offer, reasoning=9).parse('Hm. ANSWER: {"price": 2}') == Offer(2.0)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"price": "much"}', '{"tags": []}', '{"price": 1} x']
)
def test_json_that_does_not_fit_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        Json(Offer).parse(text)
    assert caught.value.problem is Problem.UNPARSED


def test_deeply_nested_json_is_unreadable_not_a_crash() -> None:
    with pytest.raises(Unreadable):
        Json(Offer).parse("[" * 19_000)


def test_forms_of_answer_are_equal_when_what_they_ask_for_is() -> None:
    assert Json(Offer) == Json(Offer)
    assert hash(Json(Offer)) == hash(Json(Offer))
    assert Json(Offer) != Json(Offer, reasoning=1)
    assert Number(0, 100) == Number(0.0, 100.0)
    assert Number(0, 100) != Number(0, 100, 1)


@pytest.mark.parametrize(
    ("answer", "text", "value"),
    [
        (GUESS, "5", 5),
        (Number(0, 9, reasoning=10), "5", 5),
        (Choice(("a", "b"), reasoning=1), "a", "a"),
        (Text(), "a", "a"),
        (JsonSchema({}, 3), "{}", {}),
    ],
)
def test_with_mark_writes_what_parse_reads(
    answer: Number | Choice | Text | JsonSchema, text: str, value: object
) -> None:
    assert answer.parse(with_mark(answer, text)) == value

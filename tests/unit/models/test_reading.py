"""Replies that are not written as asked: what is repaired, what is a refusal, and what is neither."""

import time
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.answer_list import List
from engine.models.answers import Answer, Choice, Json, Number, Problem, Text, Unreadable
from engine.models.reading import Reading, read
from engine.models.refusal import is_refusal


class Offer(msgspec.Struct):
    price: float
    item: str


GUESS = Number(0, 100)
MOVE = Choice(("cooperate", "defect"))
LETTER = Choice(("A", "B"))
OFFER = Json(Offer)
PAIR = List(GUESS, 2, 2)
PEAR = '{"price": 2, "item": "pear"}'


def reading(answer: Answer | Json | List, text: str) -> Reading:
    return read(answer, answer.wire if isinstance(answer, Json | List) else answer, text)


def problem(answer: Answer | Json | List, text: str) -> Problem:
    with pytest.raises(Unreadable) as caught:
        reading(answer, text)
    return caught.value.problem


@pytest.mark.parametrize(
    ("answer", "text", "value"),
    [
        (GUESS, "33", 33), (MOVE, " Defect ", "defect"), (Text(), "I'm sorry, no.", "I'm sorry, no."),
        (OFFER, PEAR, Offer(2, "pear")), (PAIR, "[1, 2]", [1, 2]),
    ],
)  # fmt: skip
def test_what_is_written_as_asked_has_no_remark(answer: Answer, text: str, value: Any) -> None:
    assert reading(answer, text) == (value, None, "")


@pytest.mark.parametrize(
    "text",
    [
        "33.", "I choose 33", "**33**", '"33"', "My number: 33!", "(33)", "`33`", "33 points", "33%", "$33",
        "I choose 33. Yes, 33.", '{"number": 33}', "33\n\nGood luck to all of us!", "- 33",
    ],
)  # fmt: skip
def test_a_number_that_stands_alone_is_taken(text: str) -> None:
    assert reading(GUESS, text) == (33, Problem.REPAIRED, "reply with one number from 0 to 100")


def test_commas_between_thousands_are_taken_out() -> None:
    assert reading(Number(0, 5e6), "I bid 1,234,000 dollars.")[0] == 1_234_000
    assert reading(Number(0, 5e6), "1,234")[0] == 1234


@pytest.mark.parametrize(
    "text",
    [
        "", "thirty-three", "33 or 34", "between 30 and 40", "30-40", "30\u201340", "1/2", "33,5", ".5",
        "not 33", "I do not choose 33", "I wouldn't say 33", "something below 33", "minus 33", "\u221233",
        "more than 33", "the 3rd", "33rd", "GPT4", "1e1", "33.3.3", "\u0663", "33. " + "I think. " * 30,
    ],
)  # fmt: skip
def test_a_number_that_may_mean_something_else_is_not_taken(text: str) -> None:
    assert problem(GUESS, text) is Problem.UNPARSED


@pytest.mark.parametrize(("text", "value"), [("I choose 133.", None), ("**33.5**", None), ("33.0.", 33)])
def test_what_is_found_is_held_to_the_form(text: str, value: float | None) -> None:
    if value is None:
        assert problem(GUESS, text) is Problem.UNPARSED
    else:
        assert reading(GUESS, text)[0] == value


def test_below_zero_a_dash_in_a_sentence_may_be_anything() -> None:
    assert reading(Number(-10, 10), "**-5**")[0] == -5
    assert problem(Number(-10, 10), "my choice - 5") is Problem.UNPARSED


@pytest.mark.parametrize(
    "text",
    ["Defect.", "I choose to DEFECT", "**defect**", "B) defect", '{"move": "defect"}', "defect, I defect"],
)
def test_the_only_option_that_is_named_is_taken(text: str) -> None:
    assert reading(MOVE, text)[:2] == ("defect", Problem.REPAIRED)


@pytest.mark.parametrize(
    "text", ["cooperate or defect", "I never defect", "I won't defect today", "defector", "defect " * 40]
)
def test_an_option_that_may_be_meant_otherwise_is_not_taken(text: str) -> None:
    with pytest.raises(Unreadable):
        reading(MOVE, text)


def test_short_options_are_taken_alone_only() -> None:
    assert reading(LETTER, "(B)")[0] == "B"
    assert reading(LETTER, "b.")[0] == "B"
    assert problem(LETTER, "A hard choice.") is Problem.UNPARSED


def test_an_option_inside_another_one_is_not_confused_with_it() -> None:
    colours = Choice(("red", "dark red", "lower"))
    assert reading(colours, "It is dark red.")[0] == "dark red"
    assert reading(colours, "I go lower.")[0] == "lower", "a hedge that is itself an option"


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{PEAR}\n```", f"Here you are:\n```\n{PEAR}```\nDeal?", f"My offer is {PEAR}.",
        '{"price": 2, "item": "pear",}', "{'price': 2, 'item': 'pear'}",
    ],
)  # fmt: skip
def test_json_is_found_inside_fences_and_sentences(text: str) -> None:
    assert reading(OFFER, text)[:2] == (Offer(2, "pear"), Problem.REPAIRED)


@pytest.mark.parametrize("text", ["Take [1, 2].", "```\n[1, 2,]\n```", "(1, 2) is [1, 2]"])
def test_so_is_a_list(text: str) -> None:
    assert reading(PAIR, text)[:2] == ([1, 2], Problem.REPAIRED)


@pytest.mark.parametrize(
    "text",
    [
        "{", "}{", '{"price": 2}', "{price: 2}", f"{PEAR} or {PEAR}", "{1: 2}", '{"price": b"2"}',
        f"{PEAR}{' ' * 5000}.", "{" * 2000 + "}" * 2000,
    ],
)  # fmt: skip
def test_what_is_no_json_or_does_not_fit_is_not_taken(text: str) -> None:
    assert problem(OFFER, text) is Problem.UNPARSED


@pytest.mark.parametrize(
    "text",
    [
        "Half of 100 is 50.\nSo I take 33.", "50, then 33.\nANSWER: I choose 33.", "Two thirds: 33\n33",
        "Of 100 players...\n**Answer:** 33", "I looked at 50. The answer is 33.", "Answer: 50\nAnswer: 33",
    ],
)  # fmt: skip
def test_after_reasoning_the_conclusion_counts(text: str) -> None:
    assert reading(Number(0, 100, reasoning=50), text)[:2] == (33, Problem.REPAIRED)


def test_json_after_reasoning_may_have_no_mark() -> None:
    assert reading(Json(Offer, reasoning=50), f"A pear is cheap.\n{PEAR}\n")[0] == Offer(2, "pear")


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I cannot choose 33.", "I can\u2019t help with that.",
        "As an AI language model, I do not gamble.",
        "I am unable to take part.", "Sorry, I will not answer that.", "I must decline.",
    ],
)  # fmt: skip
def test_a_refusal_is_counted_as_one_and_complained_about(text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        reading(GUESS, text)
    assert caught.value.problem is Problem.REFUSED
    assert caught.value.detail == "a refusal is no answer; reply with one number from 0 to 100"


@pytest.mark.parametrize(
    "text", ["I choose 33", "Apples are sorry fruit", "x" * 300 + " I refuse", "We cannot lose", ""]
)
def test_other_replies_are_no_refusals(text: str) -> None:
    assert not is_refusal(text)


@given(
    st.sampled_from([GUESS, Number(-5, 5, 2), Number(0, 9, reasoning=9), MOVE, LETTER, OFFER, PAIR]),
    st.text() | st.text("{}[](),:\"'`*-+./0123456789 \nabeANSWER"),
)
def test_reading_ends_in_an_acceptable_value_or_unreadable(answer: Any, text: str) -> None:
    try:
        value, remark, detail = reading(answer, text)
    except Unreadable:
        return
    if isinstance(answer, Number):
        assert answer.low <= value <= answer.high
    assert (remark is None) == (detail == "")


@pytest.mark.parametrize(
    "unit", ["{a]", '["', '{"a":', "```", ", ", "1,", "answer ", "{'", "not ", "-", "(" , "A"]
)  # fmt: skip
def test_hostile_replies_are_read_in_no_time(unit: str) -> None:
    started = time.process_time()
    for answer in (OFFER, PAIR, GUESS, MOVE, Number(0, 9, reasoning=9)):
        for size in (199, 4096, 20_000):
            with suppress(Unreadable):
                reading(answer, (unit * size)[:size])
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "Es tut mir leid, aber dazu kann ich nichts sagen.",
        "Als KI habe ich keine Meinung.",
        "Ich kann leider nicht antworten.",
        "Je suis désolé, je n'ai pas de préférence.",
        "En tant qu\u2019IA, je n'ai pas d'avis.",
        "Lo siento, no tengo opinión.",
        "No puedo responder a eso.",
        "Mi dispiace, ma non ho preferenze.",
        "Desculpe, não tenho opinião.",
        "Não posso escolher.",
        "抱歉。我不能选择。",
        "作为一个AI我没有偏好。",
        "申し訳ありませんが、お答えできません。",
    ],
)
def test_refusals_in_other_languages(text: str) -> None:
    assert problem(GUESS, text) is Problem.REFUSED


@pytest.mark.parametrize(
    "text",
    [
        "Ich nehme die Mitte, denn mehr kann das nicht werden.",
        "Je choisis le milieu, ce ne peut pas être plus.",
        "Elijo la mitad, no puedo ganar más.",
        "Scelgo la metà, di più non posso vincere.",
        "Escolho a metade, mais não posso ganhar.",
        "我选中间的数字。",
        "真ん中を選びます。",
    ],
)
def test_thoughts_in_other_languages_are_no_refusals(text: str) -> None:
    assert problem(GUESS, text) is Problem.UNPARSED

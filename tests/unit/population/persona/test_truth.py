from datetime import date

import pytest

from engine.population.column import Value
from engine.population.persona.truth import contradictions, in_words, missing

ANNA: dict[str, Value] = {
    "age": 34,
    "gender": "female",
    "job": "nurse",
    "pay": 28500.0,
    "born": date(1990, 3, 7),
    "home_town": "New York",
}
JOBS = {"job": ("nurse", "doctor", "teacher")}


@pytest.mark.parametrize(
    "text",
    [
        "Anna, 34, a nurse of New York, was born on March 7, 1990 and earns 28,500 dollars.",
        "THIRTY-FOUR, nurse, new  york, 1990-03-07: 28500.",
        "At 34 she is a nurse (in New York), born 7 March 1990, on 28,500.",
    ],
)
def test_values_may_be_written_in_several_ways(text: str) -> None:
    assert list(missing(text, ANNA, ["age", "job", "pay", "born", "home_town"])) == []


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("She is 134 and earns 34,000.", "age", "it does not say that age is 34"),
        ("A nursery in York.", "job", "it does not say that job is nurse"),
        ("A nurse in York.", "home_town", "it does not say that home town is new york"),
        ("In 1990.", "born", "it does not say that born is 1990-03-07"),
    ],
)
def test_what_is_not_said_is_told(text: str, name: str, told: str) -> None:
    assert list(missing(text, ANNA, [name])) == [told]


def wrong(text: str, **changed: Value) -> list[str]:
    return list(contradictions(text, ANNA | changed, age="age", gender="gender", categories=JOBS))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Anna is a 43-year-old nurse.", ["it says 43 years old, not 34"]),
        ("I'm 29 and a nurse.", ["it says 29 years old, not 34"]),
        ("A nurse aged 35.", ["it says 35 years old, not 34"]),
        ("He is a nurse, and his friends like him; her name is Anna.", ["it speaks of a man"]),
        ("Anna is a man.", ["it speaks of a man"]),
        ("She works as a doctor.", ["it says job is doctor, not nurse"]),
        ("I\u2019m a teacher, 34 years old.", ["it says job is teacher, not nurse"]),
    ],
)
def test_what_is_plainly_false_is_told(text: str, told: list[str]) -> None:
    assert wrong(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "Anna is 34 years old; her 12-year-old son wants to be a teacher.",
        "She married a doctor. He says she is the best nurse of the ward, and she believes him.",
        "She has worked with doctors for 10 years.",
        "Anna runs 5 km and is 34.",
    ],
)
def test_what_is_said_of_others_is_let_through(text: str) -> None:
    assert wrong(text) == []


def test_men_are_spoken_of_as_men() -> None:
    assert wrong("He is a nurse and likes his job.", gender="male") == []
    assert wrong("She is a nurse and likes her job.", gender="male") == ["it speaks of a woman"]
    assert wrong("They are a nurse.", gender="other") == []


@pytest.mark.parametrize(
    ("number", "words"), [(0, "zero"), (13, "thirteen"), (20, "twenty"), (99, "ninety-nine")]
)
def test_numbers_in_words(number: int, words: str) -> None:
    assert in_words(number) == words

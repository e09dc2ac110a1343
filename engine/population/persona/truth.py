"""Whether a text says what is known of a person, by rules; nothing here understands the text.

A rule objects only to what is plainly false, such as another age; what it lets through may still be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from engine.population.column import Value
from engine.population.column import in_words as shown
from engine.population.persona.languages import words_of

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

_KIN = r"(?:son|daughter|child|boy|girl|baby|toddler|twins?|brother|sister|grand\w+|dog|cat|house|car)"
_AGE = re.compile(
    rf"\b(\d{{1,3}})[- ]years?[- ]old\b(?!\s+{_KIN})"
    r"|\baged?\s+(?:of\s+)?(\d{1,3})\b"
    r"|\b(\d{1,3})\s+years\s+of\s+age\b"
    r"|\bi(?:'m| am)\s+(\d{1,3})\b(?!\s*(?:%|percent|km|miles|cm))",
    re.IGNORECASE,
)
_MALE, _FEMALE = frozenset({"he", "him", "his", "himself"}), frozenset({"she", "her", "hers", "herself"})
_MEN = frozenset({"male", "m", "man", "boy", "men"})
_WOMEN = frozenset({"female", "f", "w", "woman", "girl", "women"})
_IS = r"\b(?:is|am|was|i'm|she's|he's|works?|working|employed|job)\s+(?:currently\s+)?(?:as\s+)?(?:an?\s+)?"


def missing(text: str, person: Mapping[str, Value], names: Sequence[str]) -> Iterator[str]:
    """Yield what a text ought to name and does not, in words for who wrote it."""
    lowered = f" {' '.join(text.casefold().split())} "
    for name in names:
        value = person[name]
        if not any(_stands_in(lowered, form) for form in _forms(value)):
            yield f"it does not say that {name.replace('_', ' ')} is {_forms(value)[0]}"


def _forms(value: Value) -> list[str]:
    """Return the ways in which a value may be written; the first is for people."""
    match value:
        case bool():
            return ["yes" if value else "no"]
        case int():
            return [str(value), in_words(value) if 0 <= value < 100 else f"{value:,}"]
        case float():
            return [shown(value), f"{value:.10g}", f"{value:,.10g}"]
        case date():
            month = f"{value:%B}".casefold()
            return [
                value.isoformat(),
                f"{value.day} {month} {value.year}",
                f"{month} {value.day}, {value.year}",
            ]
    return [str(value).casefold()]


def in_words(number: int) -> str:
    """Return a number below 100 in English words."""
    if number < 20:
        return _ONES[number]
    ten, one = divmod(number, 10)
    return _TENS[ten - 2] + (f"-{_ONES[one]}" if one else "")


def _stands_in(text: str, form: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(form)}(?!\w|[.,]\d)", text) is not None


def contradictions(
    text: str,
    person: Mapping[str, Value],
    *,
    age: str | None,
    gender: str | None,
    categories: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """Yield what a text says that is not so, of what can be told by rules for English.

    `categories` are all values of attributes that the text may say of the person only one of.
    """
    text = text.replace("\u2019", "'")
    if age is not None:
        yield from _wrong_age(text, person[age])
    if gender is not None:
        yield from _wrong_gender(text, str(person[gender]).casefold())
    for name, known in categories.items():
        value = str(person[name])
        for other in known:
            if other.casefold() not in value.casefold() and _says_is(text, other):
                yield f"it says {name.replace('_', ' ')} is {other}, not {value}"


def _wrong_age(text: str, age: Value) -> Iterator[str]:
    """The first age that a text names is the person's own."""
    if found := _AGE.search(text):
        named = int(next(group for group in found.groups() if group))
        if named != age:
            yield f"it says {named} years old, not {age}"


def _wrong_gender(text: str, gender: str) -> Iterator[str]:
    words = words_of(text)
    he, she = sum(word in _MALE for word in words), sum(word in _FEMALE for word in words)
    if gender in _MEN and (she > he or _says_is(text, "woman")):
        yield "it speaks of a woman"
    if gender in _WOMEN and (he > she or _says_is(text, "man")):
        yield "it speaks of a man"


def _says_is(text: str, what: str) -> bool:
    return re.search(rf"{_IS}{re.escape(what)}\b", text, re.IGNORECASE) is not None

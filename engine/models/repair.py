"""What a reply may have meant that is not written as asked: few, narrow rules, in time linear in the reply.

Whatever a rule finds is parsed strictly like any reply, so repairing never widens what is acceptable, and the
journal marks every answer that was read this way. No library does the part for JSON: the usual one takes 7 s
over 2 kB of unlucky brackets, and replies are not to be trusted.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

import msgspec

from engine.models.answers import Answer, Choice, JsonSchema, Number, Text, with_mark

MAX_JSON_CHARS = 4096
MAX_SENTENCE_CHARS = 200
"""In a longer reply, a number or option that occurs alone need not be the answer."""

_OPENING = " \t\r\n*_`'\"\u201c\u2018([{$\u20ac\u00a3"
_CLOSING = " \t\r\n*_`'\"\u201d\u2019)]}.,;:!"
_NUMERAL = re.compile(
    r"(?<![\w.,/\u2013\u2212])[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,30})(?:\.[0-9]{1,30})?(?![\w/])(?![.,][0-9])"
)
_HEDGE = re.compile(
    r"n't\b|\b(?:not|never|neither|nor|no|or|between|above|below|over|under|less|more|least|most|lower|higher"
    r"|greater|smaller|larger|around|about|except|instead|minus|negative)\b",
    re.IGNORECASE,
)
"""Words that can turn what is named into something else than the answer."""
_ANSWER_IS = re.compile(r"\banswer\W{0,5}(?::|\bis\b)", re.IGNORECASE)
_FENCED = re.compile(r"```[a-zA-Z]*\n(.*?)```", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")


def candidates(answer: Answer, text: str) -> Iterator[str]:
    """Yield what the reply may have meant, the likeliest first, each as the reply that was asked for."""
    if isinstance(answer, Text):
        return
    part = _conclusion(answer, text) if answer.reasoning else text
    match answer:
        case Number():
            found = _numbers(answer, part)
        case Choice():
            found = _options(answer, part)
        case JsonSchema():
            found = _json(answer, part)
    for candidate in found:
        yield with_mark(answer, candidate)


def _conclusion(answer: Answer, text: str) -> str:
    """Return what follows the last "answer:" or "answer is", else the last line, else all of JSON."""
    marks = list(_ANSWER_IS.finditer(text))
    if marks:
        return text[marks[-1].end() :]
    return text if isinstance(answer, JsonSchema) else text.rstrip().rpartition("\n")[2]


def _numbers(answer: Number, text: str) -> Iterator[str]:
    """A number in quotes, emphasis or brackets, or the only number of a sentence: "I choose 33."."""
    if len(text) > MAX_SENTENCE_CHARS:
        return
    yield _plain(_bare(text))
    named = {_plain(numeral) for numeral in _NUMERAL.findall(text)}
    rest = _NUMERAL.sub("", text)
    # below zero, a dash may be a sign or a bullet
    if len(named) == 1 and answer.low >= 0 and not re.search(r"\d", rest) and not _HEDGE.search(rest):
        yield named.pop()


def _options(answer: Choice, text: str) -> Iterator[str]:
    """An option in quotes, emphasis or brackets, or the only one that a sentence names."""
    if len(text) > MAX_SENTENCE_CHARS:
        return
    yield _bare(text)
    if min(map(len, answer.options), default=0) < 3:  # "a" and "no" are words of any sentence
        return
    longest_first = sorted(answer.options, key=len, reverse=True)
    one_of_them = "|".join(re.escape(option.casefold()) for option in longest_first)
    pattern = re.compile(rf"(?<!\w)(?:{one_of_them})(?!\w)")
    named = set(pattern.findall(text.casefold()))
    if len(named) == 1 and not _HEDGE.search(pattern.sub("", text.casefold())):
        yield named.pop()


def _json(answer: JsonSchema, text: str) -> Iterator[str]:
    """JSON inside a fence or a sentence, with a comma too many, or written as Python."""
    if len(text) > MAX_JSON_CHARS:
        return
    fenced = _FENCED.search(text)
    inside = fenced[1] if fenced else text
    begin, end = "[]" if answer.schema.get("type") == "array" else "{}"
    first, last = inside.find(begin), inside.rfind(end)
    if not 0 <= first < last:
        return
    found = inside[first : last + 1]
    yield found
    yield _TRAILING_COMMA.sub("", found)
    yield from _from_python(found)


def _from_python(text: str) -> Iterator[str]:
    try:
        with warnings.catch_warnings(action="ignore"):
            value = ast.literal_eval(text)  # literals only: nothing is run
        yield msgspec.json.encode(value).decode()
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, UnicodeError):
        return


def _bare(text: str) -> str:
    return text.lstrip(_OPENING).rstrip(_CLOSING)


def _plain(numeral: str) -> str:
    """Return a numeral without the commas between its thousands."""
    return numeral.replace(",", "") if _NUMERAL.fullmatch(numeral) else numeral

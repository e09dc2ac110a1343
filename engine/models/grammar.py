"""The forms of answer as patterns that a backend can hold a model to while it writes.

A pattern is a regular expression of the plain kind (no look-around, no back-references) that the whole answer
matches; every constrained-decoding engine understands it.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from engine.errors import ModelError
from engine.models.answers import Choice, Number

MAX_DECIMALS = 9
MAX_MAGNITUDE = 10**15
"""Beyond these a double no longer tells neighbouring decimals apart."""


def answer_pattern(answer: Number | Choice) -> str:
    """Return the pattern that exactly the valid answers match. Raises ModelError if there is none."""
    if isinstance(answer, Choice):
        return choice_pattern(answer.options)
    return number_pattern(answer.low, answer.high, answer.decimals)


def longest_answer(answer: Number | Choice) -> int:
    """Return how many bytes the longest valid answer has; it never takes more tokens than that."""
    if isinstance(answer, Choice):
        return max((len(option.encode()) for option in answer.options), default=0)
    whole = max(len(str(int(min(MAX_MAGNITUDE, abs(bound))))) for bound in (answer.low, answer.high))
    return len("-") + whole + len(".") + answer.decimals


def choice_pattern(options: tuple[str, ...]) -> str:
    """Return the pattern of these options. Raises ModelError if there is no option, or an empty one."""
    if not options or not all(option.strip() for option in options):
        raise ModelError("a choice needs options, none of them empty", where="answer")
    return "|".join(re.escape(option) for option in options)


def number_pattern(low: float, high: float, decimals: int = 0) -> str:
    """Return the pattern of the numbers from `low` to `high` with at most `decimals` digits after the point.

    No leading zeros, plus sign, exponent or negative zero. Raises ModelError if there is no such number.
    """
    if not (abs(low) <= MAX_MAGNITUDE and abs(high) <= MAX_MAGNITUDE and 0 <= decimals <= MAX_DECIMALS):
        raise ModelError(
            f"cannot hold a model to numbers from {low:g} to {high:g} with {decimals} decimals",
            where="answer",
            hint=f"bounds up to {MAX_MAGNITUDE:g} and up to {MAX_DECIMALS} decimals are possible",
        )
    parts = [part for places in range(decimals + 1) for part in _with_places(low, high, places)]
    if not parts:
        raise ModelError(f"there is no number from {low:g} to {high:g}", where="answer")
    return "|".join(parts)


def _with_places(low: float, high: float, places: int) -> list[str]:
    """Patterns of the numbers in the range that are written with exactly so many places."""
    scale = Decimal(10) ** places
    least = int((Decimal(repr(low)) * scale).to_integral_value(ROUND_CEILING))
    most = int((Decimal(repr(high)) * scale).to_integral_value(ROUND_FLOOR))
    negative = _magnitudes(max(1, -most), -least, places)
    return [f"-{part}" for part in negative] + _magnitudes(max(0, least), most, places)


def _magnitudes(least: int, most: int, places: int) -> list[str]:
    """Patterns of least..most divided by 10**places: one for each length of numeral."""
    parts = []
    for width in range(places + 1, len(str(max(most, 0))) + places + 2):
        first = max(least, 0 if width == places + 1 else 10 ** (width - 1))
        last = min(most, 10**width - 1)
        if first <= last:
            parts.append(_between(_numeral(first, width, places), _numeral(last, width, places)))
    return parts


def _numeral(value: int, width: int, places: int) -> str:
    digits = str(value).zfill(width)
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def _between(low: str, high: str) -> str:
    """Pattern of the numerals from `low` to `high`, which are of one length with the point at one place."""
    if not low:
        return ""
    if low[0] == high[0]:
        return re.escape(low[0]) + _between(low[1:], high[1:])
    rest = low[1:]
    zeros, nines = re.sub(r"\d", "0", rest), re.sub(r"\d", "9", rest)
    first, last, parts = int(low[0]), int(high[0]), []
    if rest != zeros:
        parts.append(low[0] + _between(rest, nines))
        first += 1
    if high[1:] != nines:
        parts.append(high[0] + _between(zeros, high[1:]))
        last -= 1
    if first <= last:
        parts.append(f"[{first}-{last}]" + re.sub(r"\d", "[0-9]", rest.replace(".", r"\.")))
    return "(?:" + "|".join(parts) + ")"

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelError
from engine.models.answers import Choice, Number
from engine.models.grammar import answer_pattern, choice_pattern, longest_answer, number_pattern

bounds = st.one_of(st.integers(-(10**6), 10**6).map(float), st.floats(-1000, 1000).map(lambda x: round(x, 3)))


@given(bounds, bounds, st.integers(0, 3), st.data())
def test_a_number_matches_exactly_when_it_is_in_range(one, other, decimals, data):
    low, high = sorted((one, other))
    near = st.one_of(st.integers(-5, 5), st.integers(0, int(high - low) + 1))
    value = (
        Decimal(repr(low))
        + data.draw(near)
        + data.draw(st.decimals(-2, 2, places=data.draw(st.integers(0, 4))))
    )
    written = f"{value:f}".removeprefix("-" if value == 0 else "\0")
    places = len(written.partition(".")[2])
    valid = Decimal(repr(low)) <= value <= Decimal(repr(high)) and places <= decimals
    try:
        pattern = number_pattern(low, high, decimals)
    except ModelError:
        assert not valid
        return
    assert bool(re.fullmatch(pattern, written)) == valid
    if valid:
        assert Number(low, high, decimals).parse(written) == float(value)


@pytest.mark.parametrize("text", ["007", "+5", "5.", ".5", "-0", "1e1", "", " 5", "5 ", "101", "-1", "5.0"])
def test_other_spellings_of_a_whole_number_do_not_match(text):
    assert not re.fullmatch(number_pattern(0, 100), text)


def test_every_whole_number_of_the_range_matches():
    pattern = number_pattern(-12, 105)
    assert [n for n in range(-300, 300) if re.fullmatch(pattern, str(n))] == list(range(-12, 106))


@pytest.mark.parametrize(
    ("low", "high", "decimals"),
    [
        (5, 3, 0),
        (0.2, 0.8, 0),
        (0, float("inf"), 0),
        (float("nan"), 1, 0),
        (0, 1e16, 0),
        (0, 1, 12),
        (0, 1, -1),
    ],
)
def test_a_range_without_numbers_is_refused(low, high, decimals):
    with pytest.raises(ModelError):
        number_pattern(low, high, decimals)


@given(
    st.lists(st.text(min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=5), st.text(max_size=8)
)
def test_a_choice_matches_its_options_and_nothing_else(options, other):
    pattern = choice_pattern(tuple(options))
    assert all(re.fullmatch(pattern, option) for option in options)
    assert bool(re.fullmatch(pattern, other)) == (other in options)


@pytest.mark.parametrize("options", [(), ("",), ("a", " ")])
def test_a_choice_of_nothing_is_refused(options):
    with pytest.raises(ModelError):
        answer_pattern(Choice(options))


@given(st.integers(-999, 999), st.integers(0, 99), st.integers(0, 2))
def test_no_answer_is_longer_than_the_longest(low, width, decimals):
    answer = Number(low, low + width, decimals)
    texts = [f"{n:.{decimals}f}" for n in (low, low + width)]
    assert max(map(len, texts)) <= longest_answer(answer)
    assert longest_answer(Choice(("yes", "näh"))) == 4

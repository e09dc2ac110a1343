from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from engine.preset.wording import allowed, nearest, path_text, show, show_at


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (int, "a whole number"),
        (Annotated[int, Meta(ge=1, le=3)], "a whole number from 1 to 3"),
        (Annotated[int, Meta(ge=1)] | None, "a whole number of at least 1"),
        (Annotated[float, Meta(gt=0, lt=1)], "a number above 0 and below 1"),
        (Annotated[float, Meta(le=1)] | str, "a number of at most 1 or text"),
        (Annotated[str, Meta(min_length=2)], "text of at least 2 characters"),
        (Annotated[str, Meta(pattern="^a", description="a word with an a")], "a word with an a"),
        (bool, "true or false"),
        (Literal["b", "a"], '"b" or "a"'),
        (Literal[3, 2, 1], "3, 2 or 1"),
        (Literal["b", "a"] | None, '"a" or "b"'),
        (tuple[str, ...], "a list, each entry text"),
        (list[int], "a list, each entry a whole number"),
        (Annotated[list[bool], Meta(max_length=2)], "a list of at most 2 entries, each true or false"),
        (Annotated[list[bool], Meta(min_length=2, max_length=2)], "a list of 2 entries, each true or false"),
        (dict[str, Any], "a table"),
        (dict[str, float], "a table, each value a number"),
        (Any, "any value"),
    ],
)
def test_types_in_words(kind: Any, expected: str) -> None:
    assert allowed(kind) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "true"),
        (None, "not set"),
        ("a\nb", r'"a\nb"'),
        ("\x9b1m\u202e", r'"\x9b1m\u202e"'),
        ("ü", '"ü"'),
        ({"a": [1]}, '{"a": [1]}'),
        ({"deep": {"password": "hush"}}, '{"deep": {"password": "(secret)"}}'),
        ("x" * 100, '"' + "x" * 56 + "..."),
    ],
)
def test_values_are_shown_on_one_harmless_line(value: Any, expected: str) -> None:
    assert show(value) == expected


def test_a_number_too_long_to_print_is_described() -> None:
    assert show(16**5000) == "a number of thousands of digits"


@given(st.text(st.characters()))
def test_whatever_is_shown_is_printable_and_short(text: str) -> None:
    shown = show(text)
    assert shown.isprintable()
    assert len(path_text((text, "b"))) >= 3


@pytest.mark.parametrize("key", ["api_key", "token", "key", "hub_token", "password"])
def test_values_of_secret_keys_are_not_shown(key: str) -> None:
    assert show_at(("model", key), "hush") == "(secret)"


@pytest.mark.parametrize("key", ["max_tokens", "keys", "tokenizer"])
def test_other_values_are_shown(key: str) -> None:
    assert show_at(("model", key), 3) == "3"


def test_nearest() -> None:
    assert nearest("Wokers", ["workers", "window"]) == "workers"
    assert nearest("zzz", ["workers"]) == ""
    assert nearest(3, ["workers"]) == ""
    assert nearest("workers" * 1000, ["workers"]) == ""

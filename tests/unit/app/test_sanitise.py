import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.sanitise import clean

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x1b\x07\x9b\x00\r\n\t[]\u202e\u2066\u200b\u200d\ufeff\ufe0f\U000e0041\u3164"),
        st.characters(categories=["Cs", "Cc", "Cf", "Co", "Cn"]),
    )
)


@given(HOSTILE, st.integers(0, 60), st.booleans())
@example("\x1b]52;c;aGk=\x07", 60, False)
def test_nothing_that_steers_a_terminal_comes_through(text: str, limit: int, lines: bool) -> None:
    shown = clean(text, limit, lines=lines)
    assert len(shown) <= limit
    shown.encode("utf-8")
    allowed = "\n" if lines else ""
    bad = [c for c in shown if unicodedata.category(c)[0] == "C" or c in "\u2028\u2029\ufe0f\u3164"]
    assert not set(bad) - set(allowed)


@given(st.text(st.characters(categories=["L", "N", "P"], max_codepoint=0x2FF), max_size=50))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("a\x9bb", r"a\x9bb"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("pay\u200bpal", "paypal"),
        ("lone \ud800", r"lone \ud800"),
        ("one\r\ntwo\tthree\rfour", r"one two three\rfour"),
        ("[bold red]markup[/]", "[bold red]markup[/]"),
        ("Grüße, 世界", "Grüße, 世界"),
    ],
)
def test_what_is_shown_instead(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_lines_may_stay() -> None:
    assert clean("one\r\ntwo\n\x1bthree", lines=True) == "one\ntwo\n\\x1bthree"


def test_long_text_is_cut_and_marked() -> None:
    assert clean("x" * 10**6, 10) == "xxxxxxx..."


def test_anything_can_be_shown() -> None:
    assert clean(ValueError("\x07")) == r"\x07"

import tomllib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.preset.problems import PresetError
from engine.preset.toml_source import MAX_BYTES, NotToml, file_layer, parse


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a = 1\nb = \n", "p.toml:2: not TOML: Invalid value, column 5"),
        (b'a = "', "p.toml: not TOML: Unterminated string, at the end"),
        (b"a = 1\na = 2\n", "p.toml:2: not TOML: Cannot overwrite a value, column 6"),
        (b"a = 1\nb = '\xff'", "p.toml:2: not UTF-8 text (allowed: TOML, which is UTF-8)"),
        (b"a = 1" + b"0" * 5000, "p.toml: not TOML: a number with too many digits"),
        (
            b"a = " + b"[" * 40 + b"]" * 40,
            "p.toml: not TOML: more than 32 tables or lists inside one another",
        ),
        (b"a = " + b"[" * 50_000, "p.toml: not TOML: more than 32 tables or lists inside one another"),
        (b"\n" + b"a." * 500 + b"a = 1", "p.toml:2: not TOML: a key of more than 33 parts"),
        (b"#" * (MAX_BYTES + 1), "p.toml: larger than 1048576 bytes: not a preset"),
        (b"\x00", "p.toml:1: not TOML: Invalid statement, column 1"),
        (
            b"[a]\nname = my_game",
            'p.toml:2: not TOML: Invalid value, column 8; text needs quotes: name = "my_game"',
        ),
        (
            "a.b = caf\u00e9 au lait # or tea".encode(),
            'p.toml:1: not TOML: Invalid value, column 7; text needs quotes: a.b = "caf\u00e9 au lait"',
        ),
        (b"x = True", "p.toml:1: not TOML: Invalid value, column 5; in TOML it is x = true"),
        (b"x = no\x1b[2J", "p.toml:1: not TOML: Invalid value, column 5"),
        (b"x = y = z", "p.toml:1: not TOML: Invalid value, column 5"),
    ],
)
def test_what_is_not_toml_is_told_with_its_line(content: bytes, expected: str) -> None:
    with pytest.raises(PresetError) as caught:
        file_layer("preset", "p.toml", content)
    assert list(map(str, caught.value.problems)) == [expected]


def test_byte_order_mark_and_windows_line_ends_are_no_problem() -> None:
    layer = file_layer("preset", "p.toml", b"\xef\xbb\xbfa = 1\r\nb = 2\r\n")
    assert [(setting.path, setting.value, setting.where) for setting in layer.settings] == [
        (("a",), 1, "p.toml:1"),
        (("b",), 2, "p.toml:2"),
    ]


@given(st.binary(max_size=60) | st.text(alphabet="ab.=[]{}\"'\\#\n, 019-:T").map(str.encode))
def test_any_content_is_read_or_refused(content: bytes) -> None:
    with suppress(PresetError):
        layer = file_layer("preset", "p.toml", content)
        assert bool(layer.settings) == bool(tomllib.loads(content.decode("utf-8-sig")))


def test_depth_up_to_the_limit_is_read() -> None:
    assert parse("a = " + "[" * 31 + "]" * 31)["a"]
    with pytest.raises(NotToml, match="inside one another"):
        parse("a = " + "[" * 33 + "]" * 33)

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.preset.toml_lines import MAX_DOTS, TooManyDots, key_lines, statements

TRICKY = '''\
# seed = 0
"quoted key" = "a = b"

[ spaced . "dotted.key" ]  # a comment = with an equals sign
list = [
  "x = 1",  # y = 2
  { z = 3 },
]
text = """
inside = 1
\\""" [still.inside]
"""
raw = \'\'\'
[inside]
\'\'\'
after.dots = 1

[[many]]
a = 1
[[many]]
a = 2
'''


def test_keys_are_found_among_strings_comments_and_lists() -> None:
    assert key_lines(TRICKY) == {
        ("quoted key",): 2,
        ("spaced",): 4,
        ("spaced", "dotted.key"): 4,
        ("spaced", "dotted.key", "list"): 5,
        ("spaced", "dotted.key", "text"): 9,
        ("spaced", "dotted.key", "raw"): 13,
        ("spaced", "dotted.key", "after"): 16,
        ("spaced", "dotted.key", "after", "dots"): 16,
        ("many",): 18,
        ("many", "1"): 18,
        ("many", "1", "a"): 19,
        ("many", "2"): 20,
        ("many", "2", "a"): 21,
    }


VALUES = st.sampled_from(
    [
        "1",
        "[1,\n 2]",
        '"#"',
        "'['",
        '"""\n"""',
        "'''\n=\n'''",
        '"\\""',
        '""',
        "{a = 1}",
        '"""a""""',
        "[[],\n[]]",
    ]
)
KEYS = st.sampled_from(["a", "b.c", '"x=y"', "'#'", ' "[d]" . e', "f-g"])


@given(
    st.lists(
        st.tuples(KEYS, VALUES, st.sampled_from(["", "# c = 1", "\n\n"])),
        max_size=6,
        unique_by=lambda t: t[0],
    )
)
def test_each_key_is_found_on_its_line(assignments: list[tuple[str, str, str]]) -> None:
    text, expected = "", {}
    for key, value, gap in assignments:
        line = text.count("\n") + 1
        text += f"{key} = {value} {gap}\n"
        node, path = tomllib.loads(f"{key} = 0"), ()
        while isinstance(node, dict):
            ((part, node),) = node.items()
            path += (part,)
        expected[path] = line
    lines = key_lines(text)
    assert {path: lines[path] for path in expected} == expected
    assert tomllib.loads(text) is not None


@given(st.text(alphabet="ab.=[]{}\"'\\#\n, "))
def test_any_text_can_be_cut(text: str) -> None:
    assert all(statement.head for statement in statements(text))


@pytest.mark.parametrize("text", ["{dots} = 1", "[{dots}]", "x = {{ {dots} = 1 }}"])
def test_a_key_of_many_parts_is_refused(text: str) -> None:
    line = "\n" + text.format(dots=".".join(["a"] * (MAX_DOTS + 2)))
    with pytest.raises(TooManyDots, match="a key of more than 33 parts") as caught:
        list(statements(line))
    assert caught.value.line == 2


def test_dots_in_values_are_no_key_parts() -> None:
    text = f"x = [{'1.5, ' * 100}]\ny = '{'.' * 100}'  # {'.' * 100}\n"
    assert [statement.line for statement in statements(text)] == [1, 2]

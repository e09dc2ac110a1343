"""Where each key of a TOML text stands, which tomllib does not tell.

The text is cut into statements by a tokenizer that knows just enough TOML (strings, comments, brackets) to
see where a statement ends. It takes any text, TOML or not, in time linear in its length.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

MAX_DOTS = 32
"""Dots in one key. tomllib takes time and memory that grow with their square: a megabyte of them kills it."""

_PIECE = re.compile(
    r'''
      """ (?: \\.? | [^\\] )*? (?: "{3,5} | \Z )
    | \'\'\' .*? (?: '{3,5} | \Z )
    | " (?: \\[^\n]? | [^"\\\n] )*+ "?
    | ' [^'\n]*+ '?
    | \# [^\n]*+
    | [^"'\#\n=,\[\]{}]+
    | .
    ''',
    re.VERBOSE | re.DOTALL,
)


class TooManyDots(ValueError):
    """A key has more than MAX_DOTS dots; `line` is where it stands."""

    def __init__(self, line: int) -> None:
        super().__init__(f"a key of more than {MAX_DOTS + 1} parts")
        self.line = line


class Statement(NamedTuple):
    """A table header or an assignment: the line it begins on, and its text up to the equals sign."""

    line: int
    head: str


def statements(text: str) -> Iterator[Statement]:
    """Cut a text into statements. Raises TooManyDots."""
    line, start, depth, dots = 1, 1, 0, 0
    head, in_value = "", False
    for match in _PIECE.finditer(text):
        piece = match[0]
        dots = 0 if piece in "\n=,[]{}" else dots + piece.count(".") * (piece[0] not in "\"'#")
        if dots > MAX_DOTS:
            raise TooManyDots(line)
        if piece == "\n" and depth == 0:
            if head.strip():
                yield Statement(start, head.strip())
            head, in_value = "", False
        elif in_value:
            depth = max(0, depth + (piece in "[{") - (piece in "]}"))
        elif piece == "=":
            in_value = True
        elif piece[0] != "#":
            start = start if head.strip() else line
            head += piece
        line += piece.count("\n")
    if head.strip():
        yield Statement(start, head.strip())


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Return the line of every table and key of a text that tomllib accepts.

    Keys inside inline tables are not told apart from the key that holds them. The tables of an array are
    numbered from 1: ("slices", "2", "name").
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    arrays: dict[tuple[str, ...], int] = {}
    for line, head in statements(text):
        if head.startswith("["):
            brackets = 2 if head.startswith("[[") else 1
            path = table = _numbered(_parts(head[brackets:-brackets]), arrays, is_new=brackets == 2)
        else:
            path = table + _parts(head)
        for length in range(1, len(path) + 1):
            lines.setdefault(path[:length], line)
    return lines


def _numbered(parts: tuple[str, ...], arrays: dict[tuple[str, ...], int], *, is_new: bool) -> tuple[str, ...]:
    """Return the path of a header with the number of each table of an array, counting a new one."""
    path: tuple[str, ...] = ()
    for place, part in enumerate(parts, start=1):
        path = (*path, part)
        if is_new and place == len(parts):
            arrays[path] = arrays.get(path, 0) + 1
        if path in arrays:
            path = (*path, str(arrays[path]))
    return path


def _parts(key: str) -> tuple[str, ...]:
    if not re.search("[\"']", key):
        return tuple(part.strip() for part in key.split("."))
    node = tomllib.loads(f"{key} = 0")
    parts = []
    while isinstance(node, dict):
        ((part, node),) = node.items()
        parts.append(part)
    return tuple(parts)

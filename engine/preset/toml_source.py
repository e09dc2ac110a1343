"""TOML that others wrote, read within limits, so that no text can hang or crash the reader."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from engine.preset.layers import Layer, expand
from engine.preset.problems import PresetError, Problem
from engine.preset.toml_lines import TooManyDots, key_lines, statements
from engine.preset.wording import show

MAX_BYTES = 1 << 20
"""Largest preset: tomllib reads it in about a second."""
MAX_DEPTH = 32
"""Tables and lists inside one another."""

_BARE_WORD = re.compile(r"\s*([\w.-]+)\s*=\s*([^\W\d][^\"'\[\]{}#=]*?)\s*(?:#.*)?")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class NotToml(ValueError):
    """A text is not TOML, or beyond the limits; `line` is None where tomllib does not say it."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def parse(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises NotToml."""
    try:
        for _ in statements(text):
            pass
        values = tomllib.loads(text)
    except TooManyDots as error:
        raise NotToml(str(error), error.line) from error
    except tomllib.TOMLDecodeError as error:
        raise _located(str(error)) from error
    except ValueError as error:  # Python reads no integers of more than 4300 digits
        raise NotToml("a number with too many digits") from error
    except RecursionError as error:
        raise NotToml(_TOO_DEEP) from error
    if _deeper_than(values, MAX_DEPTH):
        raise NotToml(_TOO_DEEP)
    return values


def file_layer(name: str, file: str, content: bytes) -> Layer:
    """Return the settings of a TOML file as a layer. Raises PresetError."""
    if len(content) > MAX_BYTES:
        raise PresetError(file, [Problem(where=file, what=f"larger than {MAX_BYTES} bytes: not a preset")])
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
        values = parse(text)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = Problem(where=f"{file}:{line}", what="not UTF-8 text", allowed="TOML, which is UTF-8")
        raise PresetError(file, [problem]) from error
    except NotToml as error:
        where = f"{file}:{error.line}" if error.line else file
        what = f"not TOML: {error.reason}{_way_out(text, error.line)}"
        raise PresetError(file, [Problem(where=where, what=what)]) from error
    lines = key_lines(text)
    settings = tuple(expand((), values, lambda path: f"{file}:{lines[path]}" if path in lines else file))
    known = {setting.path for setting in settings}
    inside = {path: f"{file}:{line}" for path, line in lines.items() if path not in known}
    return Layer(name, settings, places=inside)


_TOO_DEEP = f"more than {MAX_DEPTH} tables or lists inside one another"


def _way_out(text: str, number: int | None) -> str:
    """Return how a line would be TOML if its value is a bare word, the most frequent mistake."""
    line = text.split("\n")[number - 1] if number else ""
    found = _BARE_WORD.fullmatch(line)
    if found is None:
        return ""
    key, word = found.groups()
    if word.lower() in ("true", "false"):
        return f"; in TOML it is {key} = {word.lower()}"
    return f"; text needs quotes: {key} = {show(word)}"


def _located(message: str) -> NotToml:
    place = _PLACE.search(message)
    if place is None:
        return NotToml(message)
    reason, line, column = message[: place.start()], *place.groups()
    return NotToml(f"{reason}, column {column}", int(line)) if line else NotToml(f"{reason}, at the end")


def _deeper_than(value: object, limit: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return limit < 0 or any(_deeper_than(part, limit - 1) for part in inner)

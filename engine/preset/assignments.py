"""Settings given one by one, as `--set a.b=value` or as SIMTUI_A__B=value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.preset.layers import Layer, Setting, expand
from engine.preset.problems import Problem
from engine.preset.toml_source import MAX_DEPTH, NotToml, parse
from engine.preset.wording import show

PREFIX = "SIMTUI_"

_KEY = re.compile(r"[A-Za-z0-9_-]{1,60}")
_FORMS = {
    "command line": "KEY=VALUE, for example engine.workers=4",
    "environment": "a variable such as SIMTUI_SEED=7 or SIMTUI_ENGINE__WORKERS=4",
}


class Unreadable(ValueError):
    """An assignment that cannot be read, and why."""


def command_line(sets: Sequence[str]) -> Layer:
    """Return the layer of `--set` options, in the order given; what is not KEY=VALUE becomes a problem."""
    given = []
    for text in sets:
        key, equals, value = text.partition("=")
        where = f"--set {key.strip() if _readable(key.strip()) else show(text)}"
        given.append((where, key.strip() if equals else None, value))
    return _layer("command line", given)


def environment(environ: Mapping[str, str]) -> Layer:
    """Return the layer of the variables SIMTUI_KEY and SIMTUI_TABLE__KEY; empty ones count as not set."""
    given = []
    for name in sorted(environ):
        if name.startswith(PREFIX) and environ[name]:
            given.append((name, name.removeprefix(PREFIX).lower().replace("__", "."), environ[name]))
    return _layer("environment", given)


def value_of(text: str) -> Any:
    """Return the value that a text means: a TOML value, or the text itself if it is none.

    Raises Unreadable if the text begins like a TOML string, list or table but is none.
    """
    text = text.strip()
    try:
        text.encode()
        read = parse(f"value = {text}")
    except UnicodeEncodeError as error:
        raise Unreadable("not UTF-8 text") from error
    except NotToml as error:
        if text.startswith(('"', "'", "[", "{")):
            raise Unreadable(f"not a TOML value: {error.reason}") from error
        return text
    return read["value"] if len(read) == 1 else text


def _layer(name: str, given: Sequence[tuple[str, str | None, str]]) -> Layer:
    settings: list[Setting] = []
    problems: list[Problem] = []
    for where, key, value in given:
        try:
            settings += _settings(key, value, where)
        except Unreadable as error:
            problems.append(Problem(where=where, what=str(error), allowed=_FORMS[name]))
    return Layer(name, tuple(settings), tuple(problems))


def _settings(key: str | None, value: str, where: str) -> Iterator[Setting]:
    if key is None:
        raise Unreadable("no equals sign")
    if not _readable(key):
        raise Unreadable("not a key of the preset")
    return expand(tuple(key.split(".")), value_of(value), lambda _: where)


def _readable(key: str) -> bool:
    parts = key.split(".")
    return len(parts) <= MAX_DEPTH and all(map(_KEY.fullmatch, parts))

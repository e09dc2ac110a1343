"""Values, keys and types of a preset in plain words, safe to print whatever the preset holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin

from msgspec import inspect

Path = tuple[str, ...]
"""Where a value stands: the keys from the outermost table to it."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]{1,60}")
_SECRET_KEY = re.compile(r"(^|_)(key|token|secret|password)$")


def show(value: object, limit: int = 60) -> str:
    """Return a value much as TOML writes it, on one line, unprintable characters escaped and secrets out."""
    if value is None:
        return "not set"
    try:
        text = json.dumps(_without_secrets(value), ensure_ascii=False, default=str)
    except ValueError:  # Python refuses to write integers of more than 4300 digits
        return "a number of thousands of digits"
    return one_line(text, limit)


def one_line(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, all of them printable."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 3] + "..."


def show_at(path: Path, value: object, limit: int = 60) -> str:
    """Return `show(value)`, unless its key says that it is a secret."""
    return "(secret)" if is_secret(path) and value is not None else show(value, limit)


def is_secret(path: Path) -> bool:
    """Tell whether a key path is that of a password, token or the like, which nothing may print."""
    return any(map(_SECRET_KEY.search, path))


def _without_secrets(value: object) -> object:
    if isinstance(value, dict):
        return {k: "(secret)" if is_secret((k,)) else _without_secrets(inner) for k, inner in value.items()}
    return value


def path_text(path: Path) -> str:
    """Return a key path as TOML writes it."""
    return ".".join(key if _BARE_KEY.fullmatch(key) else show(key) for key in path)


def nearest(word: object, known: Iterable[str]) -> str:
    """Return the known word most like the given one, or "" if none is."""
    found = get_close_matches(word.lower(), known, n=1) if isinstance(word, str) and len(word) < 100 else []
    return found[0] if found else ""


def one_of(words: Iterable[str]) -> str:
    """Return "a, b or c"."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def allowed(kind: Any) -> str:
    """Return in plain words what the type of a field allows."""
    if get_origin(kind) is Literal:  # msgspec would sort the choices
        return one_of(show(value) for value in get_args(kind))
    return _describe(inspect.type_info(kind))


def _describe(kind: inspect.Type) -> str:
    """Return in plain words what a type allows."""
    match kind:
        case inspect.Metadata(extra_json_schema={"description": str(words)}):
            return words
        case inspect.Metadata():
            return _describe(kind.type)
        case inspect.UnionType():
            return one_of(_describe(t) for t in kind.types if not isinstance(t, inspect.NoneType))
        case inspect.LiteralType():
            return one_of(show(value) for value in kind.values)
        case inspect.IntType():
            return "a whole number" + _bounds(kind)
        case inspect.FloatType():
            return "a number" + _bounds(kind)
        case inspect.StrType():
            return _length("text", "characters", kind)
        case inspect.BoolType():
            return "true or false"
        case inspect.DateType():
            return "a date such as 2024-12-31"
        case inspect.VarTupleType() | inspect.ListType():
            entry = "each entry" if kind.min_length is kind.max_length is None else "each"
            return f"{_length('a list', 'entries', kind)}, {entry} {_describe(kind.item_type)}"
        case inspect.DictType():
            return "a table" if isinstance(kind.value_type, inspect.AnyType) else _table_of(kind.value_type)
        case inspect.StructType():
            return "a table"
    return "any value"


def _table_of(values: inspect.Type) -> str:
    return f"a table, each value {_describe(values)}"


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is not None and kind.le is not None:
        return f" from {kind.ge} to {kind.le}"
    limits = {"of at least": kind.ge, "above": kind.gt, "of at most": kind.le, "below": kind.lt}
    said = [f"{word} {limit}" for word, limit in limits.items() if limit is not None]
    return " " + " and ".join(said) if said else ""


def _length(noun: str, unit: str, kind: inspect.StrType | inspect.VarTupleType | inspect.ListType) -> str:
    if kind.min_length is not None and kind.min_length == kind.max_length:
        return f"{noun} of {kind.min_length} {unit}"
    limits = {"at least": kind.min_length, "at most": kind.max_length}
    said = [f"{word} {limit}" for word, limit in limits.items() if limit is not None]
    return f"{noun} of {' and '.join(said)} {unit}" if said else noun

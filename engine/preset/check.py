"""All that is wrong with the values of a preset, found by walking them along the types of the schema.

msgspec stops at the first mistake; here every one is collected. Problems carry no `where` yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

import msgspec

from engine.preset.problems import Problem
from engine.preset.variants import Struct, Variants, bare, home, is_struct, items, keys, variants
from engine.preset.wording import Path, allowed, nearest, one_of, path_text, show, show_at

INT_MAX = 2**63 - 1
"""TOML promises no larger whole numbers, and neither do SQLite and msgpack."""


def faults(kind: Any, value: object, path: Path) -> Iterator[Problem]:
    """Yield what is wrong with a value that ought to be of a type."""
    known, kind = variants(kind), bare(kind)
    if item := items(kind):
        yield from _item_faults(item, get_origin(kind) is dict, value, path)
    elif known or is_struct(kind):
        if not isinstance(value, dict):
            yield _refused(path, value, f"a table [{path_text(path)}]")
        elif known:
            yield from _variant_faults(known, value, path)
        else:
            yield from table_faults(kind, value, path)
    elif not _is_sound(value) or not _converts(value, kind):
        yield _refused(path, value, allowed(kind), _nearest_choice(value, kind))


def _item_faults(item: Any, named: bool, value: object, path: Path) -> Iterator[Problem]:
    """Yield what is wrong with the tables of a collection: [name.NAME] or [[name]]."""
    if named and isinstance(value, dict):
        for name, table in value.items():
            yield from faults(item, table, (*path, name))
    elif not named and isinstance(value, list):
        for number, table in enumerate(value, start=1):
            yield from faults(item, table, (*path, str(number)))
    else:
        where = path_text(path)
        yield _refused(path, value, f"tables [{where}.NAME]" if named else f"tables [[{where}]]")


def table_faults(struct: Struct, values: Mapping[str, object], path: Path = ()) -> Iterator[Problem]:
    """Yield the unknown and missing keys of a table, and what is wrong with its values."""
    known = keys(struct)
    for key in values:
        if key not in known:
            yield _unknown(known, path, key)
    for field in msgspec.structs.fields(struct):
        if field.encode_name in values:
            yield from faults(field.type, values[field.encode_name], (*path, field.encode_name))
        elif field.required:
            yield from _missing(field.type, (*path, field.encode_name))


def _variant_faults(known: Variants, values: Mapping[str, object], path: Path) -> Iterator[Problem]:
    path_of_tag = (*path, known.tag_field)
    tag = values.get(known.tag_field)
    if isinstance(tag, str) and tag in known.names:
        yield from table_faults(known.find(tag), values, path)
        return
    if tag is None:
        yield Problem(path=path_of_tag, what="missing", allowed=one_of(map(show, known.names)))
    elif isinstance(file := values.get("file"), str):
        what = f"{show(file)} is not trusted, or holds no scenario {show_at(path_of_tag, tag)}"
        yield Problem(path=(*path, "file"), what=what, allowed="what --trust FILE on the command line names")
    else:
        yield _refused(path_of_tag, tag, one_of(map(show, known.names)), nearest(tag, known.names))
    yield from _faults_in_all([known.find(name) for name in known.names], known.tag_field, values, path)


def _faults_in_all(
    structs: Sequence[Struct], tag_field: str, values: Mapping[str, object], path: Path
) -> Iterator[Problem]:
    """Yield what is wrong with the other keys of a table, whichever of the structs it was to be."""
    types: dict[str, list[Any]] = {}
    for struct in structs:
        for field in msgspec.structs.fields(struct):
            types.setdefault(field.encode_name, []).append(field.type)
    for key, value in values.items():
        if key not in types and key != tag_field:
            yield _unknown([tag_field, *types], path, key)
        elif key in types:
            found = [list(faults(kind, value, (*path, key))) for kind in types[key]]
            yield from min(found, key=len)


def _missing(kind: Any, path: Path) -> Iterator[Problem]:
    if variants(kind) or is_struct(kind):
        yield from faults(kind, {}, path)
    else:
        yield Problem(path=path, what="missing", allowed=allowed(kind))


def _unknown(known: list[str], path: Path, key: str) -> Problem:
    near = nearest(key, known)
    return Problem(
        path=(*path, key),
        what="unknown key",
        nearest=path_text((*path, near)) if near else home(key),
        allowed=one_of(known),
    )


def _refused(path: Path, value: object, choice: str, near: str = "") -> Problem:
    what = f"{show_at(path, value)} is not allowed"
    return Problem(path=path, what=what, allowed=choice, nearest=show(near) if near else "")


def _nearest_choice(value: object, kind: Any) -> str:
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    return nearest(value, (choice for choice in choices if isinstance(choice, str)))


def _converts(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _is_sound(value: object) -> bool:
    """Tell whether all numbers in a value are finite and fit into 64 bits."""
    match value:
        case dict():
            return all(map(_is_sound, value.values()))
        case list():
            return all(map(_is_sound, value))
        case float():
            return math.isfinite(value)
        case int():
            return -INT_MAX <= value <= INT_MAX
    return True

"""Which structs a table can be: [model] goes by `backend`, [scenario] by `name`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_origin

import msgspec
from msgspec.structs import fields

from engine.preset.layers import Merged
from engine.preset.schema import Preset
from engine.preset.wording import path_text, show
from engine.scenarios import registry
from engine.scenarios.scenario import ScenarioSettings

Struct = type[msgspec.Struct]


class Variants(NamedTuple):
    """The structs that a table can be, told apart by the value of its key `tag_field`."""

    tag_field: str
    names: Sequence[str]
    find: Callable[[str], Struct]


def variants(kind: Any) -> Variants | None:
    """Return the variants of a tagged union or of the scenario's table; None for any other type."""
    if kind is ScenarioSettings:
        return Variants("name", registry.names(), lambda name: registry.find(name).Settings)
    members = [member for member in get_args(kind) if is_struct(member)]
    if not members or items(kind) or is_struct(bare(kind)):
        return None
    by_tag = {str(member.__struct_config__.tag): member for member in members}
    return Variants(str(members[0].__struct_config__.tag_field), sorted(by_tag), by_tag.__getitem__)


def items(kind: Any) -> Any:
    """Return the type of each table in a collection of tables, a list or one by names; None for others."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin not in (tuple, dict):
        return None
    item = arguments[0] if origin is tuple else arguments[1]
    return item if is_struct(item) or variants(item) else None


def bare(kind: Any) -> Any:
    """Return the struct that a table which may be left out becomes; any other type as it is."""
    members = [member for member in get_args(kind) if member is not NoneType]
    return members[0] if get_origin(kind) is UnionType and len(members) == 1 else kind


def is_struct(kind: Any) -> bool:
    """Tell whether a type is a struct, which a table of the preset becomes."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def structs(kind: Any) -> list[Struct]:
    """Return every struct that a table of this type can be; none if the type is no table."""
    if item := items(kind):
        return structs(item)
    if known := variants(kind):
        return [known.find(name) for name in known.names]
    return [bare(kind)] if is_struct(bare(kind)) else []


def structs_within(kind: Any) -> Iterator[Struct]:
    """Yield every struct that a table of this type can be, and those of the tables in it."""
    for struct in structs(kind):
        yield struct
        for field in fields(struct):
            yield from structs_within(field.type)


def keys(struct: Struct) -> list[str]:
    """Return the keys of a table, the one that tells variants apart included."""
    tag_field = struct.__struct_config__.tag_field
    names = [field.encode_name for field in fields(struct)]
    return [tag_field, *names] if tag_field else names


def home(key: str) -> str:
    """Return where in a preset a key belongs; "" if nowhere."""
    for field in fields(Preset):
        if field.name == key:
            return key
        for struct in structs(field.type):
            if key in keys(struct):
                config = struct.__struct_config__
                condition = f" (with {config.tag_field} = {show(config.tag)})" if config.tag else ""
                return f"{field.name}.{key}{condition}"
    return ""


def set_aside(merged: Merged) -> list[str]:
    """Take out settings that belong to a variant which a stronger layer has replaced, and tell them.

    So `--set model.backend=dummy` works on a preset whose [model] has keys that only llama_cpp knows.
    """
    told = []
    for field in fields(Preset):
        known, table = variants(field.type), merged.values.get(field.name)
        if known is None or not isinstance(table, dict) or table.get(known.tag_field) not in known.names:
            continue
        own = keys(known.find(table[known.tag_field]))
        others = {key for struct in structs(field.type) for key in keys(struct)}.difference(own)
        rank = merged.origin((field.name, known.tag_field)).rank
        for path in [(field.name, key) for key in table if key in others]:
            if merged.origin(path).rank < rank:
                del table[path[-1]]
                told.append(f"{path_text(path)} ({merged.origin(path)})")
    return told

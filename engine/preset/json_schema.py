"""The preset as a JSON Schema, which editors use to complete and check TOML."""

from __future__ import annotations

from typing import Any, Union

import msgspec
from msgspec.structs import FieldInfo, fields

from engine.preset.docstrings import meanings
from engine.preset.schema import Preset, Table
from engine.preset.variants import Struct, items, structs, structs_within


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a whole preset, with every scenario and every backend."""
    schema = msgspec.json.schema(_whole_preset())
    described: list[Struct] = [Preset, *(table for f in fields(Preset) for table in structs_within(f.type))]
    for struct in described:
        properties = schema["$defs"][struct.__name__]["properties"]
        for name, meaning in meanings(struct).items():
            properties[name]["description"] = meaning
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "simtui preset", **schema}


def _whole_preset() -> Struct:
    """Return Preset with its table of the scenario spelt out as the union of all scenarios."""
    return msgspec.defstruct("Preset", map(_spelt_out, fields(Preset)), bases=(Table,), kw_only=True)


def _spelt_out(field: FieldInfo) -> tuple[str, Any] | tuple[str, Any, Any]:
    spelt_out = structs(field.type) and not items(field.type)
    kind = Union[tuple(structs(field.type))] if spelt_out else field.type  # noqa: UP007
    if field.required:
        return (field.name, kind)
    return (field.name, kind, field.default if field.default is not msgspec.NODEFAULT else {})

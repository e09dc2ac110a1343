"""From layers of settings to a preset: merged, checked, and every value with its origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import FieldInfo, fields

from engine.preset.agreement import disagreements
from engine.preset.check import table_faults
from engine.preset.layers import Layer, Merged, Origin, merge
from engine.preset.problems import PresetError, Problem
from engine.preset.schema import Preset
from engine.preset.toml_source import file_layer
from engine.preset.variants import set_aside, variants
from engine.preset.wording import Path
from engine.preset.write import plain, to_toml

MAX_PROBLEMS = 50
"""A file with more is not a preset with mistakes but another file; looking on could take minutes."""


class Loaded(NamedTuple):
    """A preset that has passed every check."""

    preset: Preset
    merged: Merged
    set_aside: list[str]
    """Settings that a stronger layer made meaningless by naming another backend or scenario."""

    @property
    def toml(self) -> str:
        """The whole preset as TOML, defaults written out; it loads back to an equal preset."""
        return to_toml(self.preset)

    def settings(self) -> Iterator[tuple[Path, Any, Origin]]:
        """Yield every setting, defaults included: its key path, its value (None: not set), its origin."""
        for path, value in _leaves((), plain(self.preset)):
            yield path, value, self.merged.origin(path)


def load(layers: Sequence[Layer], name: str) -> Loaded:
    """Merge layers, the weakest first, and check the result. Raises PresetError with every problem.

    `name` is what messages call the preset: its file.
    """
    merged = merge(layers)
    aside = set_aside(merged)
    problems, tables = _checked(merged.values)
    problems = [msgspec.structs.replace(p, where=merged.around(p.path).where or name) for p in problems]
    problems = [*(problem for layer in layers for problem in layer.problems), *problems]
    if problems:
        raise PresetError(name, problems)
    return Loaded(Preset(**tables), merged, aside)


def from_toml(content: bytes, file: str) -> Preset:
    """Return the preset that a TOML file holds, such as the one in a run directory. Raises PresetError."""
    return load([file_layer("preset", file, content)], file).preset


def _checked(values: dict[str, Any]) -> tuple[list[Problem], dict[str, Any]]:
    """Return the problems of a preset, and the structs of those tables that have none."""
    problems = list(islice(table_faults(Preset, values), MAX_PROBLEMS))
    if len(problems) == MAX_PROBLEMS:
        return [*problems, Problem(what="and perhaps more, which were not looked for")], {}
    spoiled = {problem.path[0] for problem in problems}
    tables = {field.name: _built(field, values) for field in fields(Preset) if field.name not in spoiled}
    return [*problems, *disagreements(tables)], tables


def _built(field: FieldInfo, values: dict[str, Any]) -> Any:
    if field.name not in values:
        return field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    known = variants(field.type)
    table = values[field.name]
    return msgspec.convert(table, known.find(table[known.tag_field]) if known else field.type)


def _leaves(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and (value or len(path) < 2):
        for key, inner in value.items():
            yield from _leaves((*path, key), inner)
    else:
        yield path, value

"""Where settings come from, weakest first: user config, preset, environment, command line.

The unit is the setting: a key of a table (`engine.workers`) or a key outside of any (`seed`). A stronger
layer replaces a setting altogether, except that it may name a path inside of one (`model.parameters.tau`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from engine.preset.problems import Problem
from engine.preset.wording import Path


class Setting(NamedTuple):
    """A value given for a key path, and where it was given (file and line, option or variable)."""

    path: Path
    value: Any
    where: str


class Layer(NamedTuple):
    """All settings from one source, and what could not be read of it."""

    name: str
    settings: tuple[Setting, ...]
    problems: tuple[Problem, ...] = ()
    places: Mapping[Path, str] = {}
    """Where keys inside of settings were given."""


class Origin(NamedTuple):
    """Where a value came from. A layer of higher rank is stronger."""

    layer: str
    where: str
    rank: int

    def __str__(self) -> str:
        return self.where or self.layer


DEFAULT = Origin("default", "", -1)


class Merged(NamedTuple):
    """The settings of all layers laid over one another."""

    values: dict[str, Any]
    origins: dict[Path, Origin]

    def origin(self, path: Path) -> Origin:
        """Return where the value at a path came from; DEFAULT if no layer gives it."""
        return self._innermost(path, min(2, len(path)))

    def around(self, path: Path) -> Origin:
        """Return where a path would be looked for: the value or a part of it, whichever was given in the
        strongest layer, or else the table that ought to hold it."""
        given = (origin for known, origin in self.origins.items() if known[: len(path)] == path)
        found = max(given, key=lambda origin: origin.rank, default=None) if path else None
        return found or self._innermost(path, 1)

    def _innermost(self, path: Path, shortest: int) -> Origin:
        for length in range(len(path), shortest - 1, -1):
            if found := self.origins.get(path[:length]):
                return found
        return DEFAULT


def expand(path: Path, value: Any, locate: Callable[[Path], str]) -> Iterator[Setting]:
    """Break what was given for a path down into settings; the tables around them come first, empty."""
    if len(path) < 2 and isinstance(value, dict):
        if path:
            yield Setting(path, {}, locate(path))
        for key, inner in value.items():
            yield from expand((*path, key), inner, locate)
    else:
        yield Setting(path, value, locate(path))


def merge(layers: Iterable[Layer]) -> Merged:
    """Lay layers over one another, the weakest first."""
    merged = Merged({}, {})
    for rank, layer in enumerate(layers):
        for setting in layer.settings:
            _apply(merged, setting)
            merged.origins[setting.path] = Origin(layer.name, setting.where, rank)
        merged.origins.update((path, Origin(layer.name, where, rank)) for path, where in layer.places.items())
    return merged


def _apply(merged: Merged, setting: Setting) -> None:
    *tables, last = setting.path
    node = merged.values
    for key in tables:
        inner = node.get(key)
        if not isinstance(inner, dict):
            inner = node[key] = {}
        node = inner
    is_table = len(setting.path) == 1 and setting.value == {}
    if is_table and isinstance(node.get(last), dict):
        return
    if last in node:
        _forget_below(merged.origins, setting.path)
    node[last] = copy.deepcopy(setting.value)


def _forget_below(origins: dict[Path, Origin], path: Path) -> None:
    depth = len(path)
    for below in [p for p in origins if len(p) > depth and p[:depth] == path]:
        del origins[below]

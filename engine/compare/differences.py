"""In what the making of runs differed: settings, versions, models, machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.journal.manifest import Manifest

OF_THE_RUN_ITSELF = frozenset(
    ("name", "state", "started", "ended", "resumed", "preset_sha256", "settings_sha256", "parent", "seed")
)
"""Fields of the manifest that say nothing of how the run came about, or that the preset says, too."""

MISSING = None
"""The value of a key that a run does not have."""


@dataclass(frozen=True)
class Difference:
    """A key and its value in each run."""

    key: str
    values: tuple[Any, ...]


def differences(sides: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """Return the keys whose values are not the same on all sides, in the order of the first side."""
    keys = dict.fromkeys(key for side in sides for key in side)
    found = [Difference(key, tuple(side.get(key, MISSING) for side in sides)) for key in keys]
    return [each for each in found if any(value != each.values[0] for value in each.values)]


def circumstances(manifest: Manifest) -> dict[str, Any]:
    """Return with what a run was made: code, versions, models and machines, by dotted keys."""
    fields = msgspec.to_builtins(manifest)
    return dict(_leaves({key: value for key, value in fields.items() if key not in OF_THE_RUN_ITSELF}))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    items = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if items is None:
        yield path, value
        return
    for key, inner in items:
        yield from _leaves(inner, f"{path}.{key}" if path else str(key))

"""A preset as TOML text: what a run directory keeps."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

import msgspec

from engine.preset.schema import Preset


def plain(preset: Preset) -> dict[str, Any]:
    """Return a preset as nested dicts, defaults included; None where a setting is not set."""
    tables: dict[str, Any] = msgspec.to_builtins(preset, builtin_types=(datetime, date, time))
    return tables


def to_toml(preset: Preset) -> str:
    """Return a preset as TOML with every default written out. It loads back to an equal preset."""
    import tomlkit

    return tomlkit.dumps(_without_none(plain(preset)))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_without_none(inner) for inner in value]
    return value

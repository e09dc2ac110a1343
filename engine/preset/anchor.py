"""Files that a preset names, found from the preset's folder whatever directory the run is started in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine.population.network.settings import EdgeList
from engine.preset.schema import Preset


def anchored(preset: Preset, folder: Path) -> Preset:
    """Return the preset with the paths of the population's files made absolute."""
    population = preset.population
    changed: dict[str, Any] = {
        "tables": tuple(_absolute(table, folder) if table.file else table for table in population.tables),
        "microdata": _absolute(population.microdata, folder) if population.microdata else None,
        "networks": {
            name: _absolute(network, folder) if isinstance(network, EdgeList) else network
            for name, network in population.networks.items()
        },
    }
    return replace(preset, population=replace(population, **changed))


def _absolute(table: Any, folder: Path) -> Any:
    return replace(table, file=str((folder / table.file).absolute()))

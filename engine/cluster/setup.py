"""What each process of a run builds for itself from the preset, always the same."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.cluster.endpoints import Endpoints
from engine.cluster.placement import Placement
from engine.preset.schema import Preset
from engine.scenarios import registry
from engine.scenarios.scenario import Scenario


@dataclass(frozen=True)
class Setup:
    """A run to be: handed to every process when it starts."""

    preset: Preset
    directory: Path
    """The run directory."""
    endpoints: Endpoints
    cache_directory: Path
    """Where backends keep what is worth keeping between runs."""

    @cached_property
    def scenario_type(self) -> type[Scenario]:
        """The scenario's class."""
        return registry.find(self.preset.scenario.scenario_name)

    def scenario(self) -> Scenario:
        """Make the scenario."""
        preset = self.preset
        return self.scenario_type(preset.scenario, preset.population.size, preset.seed)

    @cached_property
    def placement(self) -> Placement:
        """Who lives where."""
        preset = self.preset
        n_workers = preset.engine.workers or len(os.sched_getaffinity(0))
        return Placement(preset.population.size, preset.scenario.groups, n_workers)

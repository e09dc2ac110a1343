"""Whether a run can fit into this machine at all."""

from __future__ import annotations

import psutil

from engine.errors import UsageError
from engine.preset.schema import Preset

AGENT_BYTES = 400
"""An agent between two rounds, as measured (docs/architecture.md)."""


def check_memory(preset: Preset) -> None:
    """Raise UsageError if the agents would need more memory than is free."""
    population = preset.population
    needed = population.size * AGENT_BYTES
    if population.attributes or population.tables:
        from engine.population.build import needed_bytes  # brings numpy along

        needed += needed_bytes(population)
    free = psutil.virtual_memory().available
    if needed > free:
        amounts = f"about {needed / 1e9:,.0f} GB of memory; {free / 1e9:,.0f} GB are free"
        raise UsageError(
            f"{population.size:,} agents need {amounts}",
            where="population.size",
            hint="a smaller population, or a larger machine",
        )

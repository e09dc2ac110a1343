"""Whole runs, started as the command line starts them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from engine import client
from engine.cluster.control import Finished, RoundReport
from engine.preset import assignments
from engine.preset.load import load
from engine.preset.toml_source import file_layer
from tests.bench.machine import Usage, Watch

ROOT = Path(__file__).parents[2]
MILLION = (ROOT / "presets" / "guess_average_million.toml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Run:
    """What a run took."""

    n_agents: int
    usage: Usage
    """Of all processes, from the start of the first to the end of the last."""
    rounds: list[RoundReport]

    @property
    def us_per_step(self) -> float:
        """CPU microseconds of a step, in all processes together; starting them is not in it."""
        return sum(r.cpu_s for r in self.rounds) / self.n_agents / len(self.rounds) * 1e6


def run(preset_toml: str, *sets: str) -> Run:
    """Run a preset with some settings changed, and throw the result away."""
    layers = [file_layer("preset", "preset.toml", preset_toml.encode()), assignments.command_line(sets)]
    loaded = load(layers, "preset.toml")
    with tempfile.TemporaryDirectory() as directory, Watch() as watch:
        events = list(client.start(loaded.preset, loaded.toml, Path(directory)).events())
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.state == "done", last
    rounds = [event for event in events if isinstance(event, RoundReport)]
    return Run(loaded.preset.population.size, watch.usage, rounds)

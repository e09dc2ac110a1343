"""What the sample took, by agent and round."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.cluster import slices
from engine.journal.reader import Reader
from engine.keys import pack
from engine.preset.schema import Preset

CALLS, IN, OUT, CACHED = range(4)
"""Columns of what is counted: calls, and their tokens."""

_COUNTED = """
SELECT agent, round, models.name, count(*), sum(tokens_in), sum(tokens_out), sum(tokens_cached)
FROM replies JOIN models ON models.id = replies.model
WHERE round BETWEEN 1 AND ? GROUP BY round, agent, models.name"""

_WRITTEN = "SELECT count(*), total(tokens_in), total(tokens_out) FROM replies WHERE key < ? AND samples > 0"

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Measurement:
    """A sample that was run."""

    load_s: float
    """From the start to the first request."""
    seconds: Counts
    """Of each round that is over."""
    counts: dict[tuple[int, str], Counts]
    """By number of the slice and model: an array of agents, rounds and columns."""
    writing: tuple[int, int, int] = (0, 0, 0)
    """Calls and tokens in and out that personas took."""

    @property
    def n_rounds(self) -> int:
        """Rounds that are over."""
        return len(self.seconds)

    @property
    def totals(self) -> Counts:
        """The columns of each round, all agents together."""
        totals: Counts = np.sum([part.sum(axis=0) for part in self.counts.values()], axis=0)
        return totals


def slice_sizes(preset: Preset) -> NDArray[np.int64]:
    """Return how many agents are outside of all slices, then in each slice."""
    n_agents = preset.population.size
    codes = _codes(preset)
    if codes is None:
        return np.array([n_agents])
    return np.bincount(codes, minlength=len(preset.slices) + 1)


def measure(preset: Preset, run_file: Path, load_s: float) -> Measurement:
    """Read the run of a sample. Raises JournalError."""
    with Reader(run_file) as reader:
        rounds = reader.rounds()
        rows = reader.rows(_COUNTED, len(rounds))
        n, tokens_in, tokens_out = map(int, reader.row(_WRITTEN, pack(1, 0)))
    codes = _codes(preset)
    models = ["default", *(part.model for part in preset.slices)]
    sizes = slice_sizes(preset)
    counts = {
        (number, model): np.zeros((sizes[number], len(rounds), 4))
        for number, model in enumerate(models)
        if sizes[number]
    }
    places = _places(codes, preset.population.size)
    for agent, round_, model, *figures in rows:
        number = 0 if codes is None else int(codes[agent])
        counts[number, model][places[agent], round_ - 1] = figures
    return Measurement(load_s, np.array([row.seconds for row in rounds]), counts, (n, tokens_in, tokens_out))


def _codes(preset: Preset) -> slices.Codes | None:
    return slices.codes_of(preset, None)


def _places(codes: slices.Codes | None, n_agents: int) -> NDArray[np.int64]:
    """Return each agent's place among those of its slice."""
    if codes is None:
        return np.arange(n_agents)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order])
    places = np.empty(n_agents, dtype=np.int64)
    places[order] = np.arange(n_agents) - starts
    return places

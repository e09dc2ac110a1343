"""What a sample took, read from its run file."""

from pathlib import Path

import numpy as np

from engine.cluster import slices
from engine.forecast.measurement import CACHED, CALLS, IN, OUT, measure, slice_sizes
from engine.journal.batch import JournalBatch
from engine.journal.writer import Writer
from engine.models.settings import Dummy
from engine.preset.schema import Population, Preset, Slice
from engine.scenarios.guess_average import GuessAverageSettings
from tests.fakes.journal import ended, reply


def preset(size: int, *slices: Slice) -> Preset:
    return Preset(
        name="trial",
        scenario=GuessAverageSettings(rounds=2),
        population=Population(size=size),
        model=Dummy(),
        models={"other": Dummy()},
        slices=slices,
    )


def test_tokens_are_counted_by_agent_and_round_of_those_that_are_over(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run.db")
    writer.model(1, "default", "dummy", {})
    rows = [reply(1, 0), reply(1, 0, 1, tokens_in=7), reply(1, 1), reply(2, 1, tokens_in=30), reply(3, 0)]
    writer.add(JournalBatch(rows))
    writer.rounds([ended(1, seconds=2.0), ended(2, seconds=3.0)])
    writer.close()
    found = measure(preset(2), tmp_path / "run.db", 1.5)
    assert (found.load_s, found.seconds.tolist(), found.n_rounds) == (1.5, [2.0, 3.0], 2)
    [counts] = found.counts.values()
    assert counts.shape == (2, 2, 4)
    assert counts[0, 0, [CALLS, IN, OUT, CACHED]].tolist() == [2, 17, 4, 16]
    assert counts[1, 1, [CALLS, IN, OUT, CACHED]].tolist() == [1, 30, 2, 8]
    assert counts[0, 1].tolist() == [0, 0, 0, 0]
    assert found.totals[:, IN].tolist() == [27, 30]


def test_slices_are_counted_apart(tmp_path: Path) -> None:
    """Agents are drawn into slices by the seed, so the models of the replies follow."""
    trial = preset(20, Slice(name="some", share=0.25, model="other"), Slice(name="none", share=0.001))
    assert slice_sizes(trial).tolist() == [15, 5, 0]
    codes = slices.draw([slices.Part(0.25), slices.Part(0.001)], 20, 1)
    assert codes is not None
    writer = Writer(tmp_path / "run.db")
    writer.model(1, "default", "dummy", {})
    writer.model(2, "other", "dummy", {})
    writer.add(JournalBatch([reply(1, a, model=1 + int(codes[a]), tokens_in=a) for a in range(20)]))
    writer.rounds([ended(1)])
    writer.close()
    found = measure(trial, tmp_path / "run.db", 0.0)
    assert set(found.counts) == {(0, "default"), (1, "other")}
    for (number, _), counts in found.counts.items():
        assert counts[:, 0, IN].tolist() == np.flatnonzero(codes == number).tolist()


def test_what_personas_took_is_told_apart_and_is_no_round(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run.db")
    writer.model(1, "author", "dummy", {})
    writer.model(2, "default", "dummy", {})
    replies = [reply(0, 0), reply(0, 1, tokens_in=7), reply(1, 0, model=2), reply(1, 1, model=2)]
    writer.add(JournalBatch(replies))
    writer.rounds([ended(1)])
    writer.close()
    found = measure(preset(2), tmp_path / "run.db", 0.0)
    assert found.writing == (2, 17, 4)
    assert found.totals[:, CALLS].tolist() == [2]

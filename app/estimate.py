"""Runs the sample of `simtui estimate`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from app import rounds, settings
from app.console import console
from app.forecast_report import Estimate, as_json_of, print_estimate
from app.interrupts import Interrupts
from app.narrator import Narrator, Verbosity
from app.record import Record
from app.report import print_error, print_stop
from app.run_cli import Start, follow, narrator_for
from engine.cluster.control import Event, RoundReport, Snapshot
from engine.errors import ExitCode, SimtuiError
from engine.forecast.assumptions import assumptions
from engine.forecast.extrapolation import forecast
from engine.forecast.measurement import measure
from engine.forecast.sample import sample_of
from engine.journal.run_directory import RunDirectory
from engine.preset.schema import Preset
from engine.preset.write import to_toml


class SampleRecord(Record):
    """Also notes how long the models took to load."""

    load_s = 0.0

    def add(self, event: Event) -> None:
        """Take in the next event."""
        super().add(event)
        if isinstance(event, Snapshot) and not event.round:
            self.load_s = event.elapsed_s


def run(
    preset_name: str,
    n_agents: int,
    sets: Sequence[str],
    *,
    as_json: bool,
    start: Start | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Estimate a preset, tell the result, and return the exit code.

    `start` is engine.client.start unless given. Raises SimtuiError.
    """
    preset = settings.load(preset_name, sets).preset
    sample = sample_of(preset, n_agents)
    narration = console(sys.stderr)
    narration.print(f"running a sample: {_what(sample)} of {_what(preset)}", soft_wrap=True)
    folder = Path(tempfile.mkdtemp(prefix="simtui-estimate-"))
    record = _run_sample(sample, folder, start, narration, clock)
    last = record.last_word()
    if last.state == "interrupted":
        shutil.rmtree(folder, ignore_errors=True)
        narration.print("interrupted; there is no estimate")
        return last.exit_code
    if last.state not in ("done", "budget") or not record.reports:
        print_error(narration, last)
        narration.print(f"the sample's files are in {folder}", soft_wrap=True)
        return last.exit_code or ExitCode.FAILED
    if last.state == "budget":
        print_stop(narration, last)
    measured = measure(sample, RunDirectory(folder).run_file, record.load_s)
    shutil.rmtree(folder, ignore_errors=True)
    found = forecast(preset, sample, measured)
    told = Estimate(preset, sample, record.usage, found, assumptions(preset, sample, measured))
    if as_json:
        sys.stdout.write(as_json_of(told) + "\n")
    else:
        print_estimate(console(sys.stdout), told)
    return ExitCode.DONE


def _what(preset: Preset) -> str:
    return rounds.size(preset.population.size, preset.scenario.rounds)


class Murmur:
    """Tells of everything but the rounds of a sample, whose results mean nothing."""

    def __init__(self, narrator: Narrator) -> None:
        self._narrator = narrator

    def hear(self, event: Event) -> None:
        """Tell of an event, if it is worth it."""
        if not isinstance(event, RoundReport):
            self._narrator.hear(event)


def _run_sample(
    sample: Preset, folder: Path, start: Start | None, narration: Console, clock: Callable[[], float]
) -> SampleRecord:
    if start is None:
        from engine import client

        start = client.start
    record = SampleRecord()
    with Interrupts() as interrupts, narrator_for(narration, Verbosity.NORMAL, clock) as narrator:
        try:
            client_ = start(sample, to_toml(sample), folder)
            interrupts.kill = client_.kill
            follow(client_, interrupts, Murmur(narrator), record)
        except SimtuiError as error:
            record.fail(error)
        if interrupts.killed:
            record.interrupt()
    return record

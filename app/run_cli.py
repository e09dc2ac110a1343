"""`simtui --run`: one run from preset to report, without the interactive session."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from rich.console import Console

from app import runs, settings, streams
from app.console import console
from app.interrupts import Interrupts
from app.narrator import LiveNarrator, Narrator, PlainNarrator, Verbosity
from app.record import Record
from app.report import print_error, print_report, print_stop
from engine.cluster.control import Event, Notice
from engine.errors import SimtuiError
from engine.journal.run_directory import (
    RunDirectory,
    claim_run_directory,
    create_run_directory,
    default_parent,
)
from engine.preset.schema import Preset


class Client(Protocol):
    """What is needed of engine.client.RunClient."""

    directory: Path

    def events(self) -> Iterator[Event]:
        """Yield what happens, up to the run's last word."""

    def stop(self, reason: str) -> None:
        """Ask for an orderly end."""

    def kill(self) -> None:
        """End at once."""


class Hearer(Protocol):
    """Whoever is told of a run."""

    def hear(self, event: Event) -> None:
        """Hear of an event."""


Start = Callable[[Preset, str, Path], Client]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `simtui --run`."""

    preset: str
    sets: tuple[str, ...] = ()
    out: str | None = None
    json: bool = False
    verbosity: Verbosity = Verbosity.NORMAL
    no_color: bool = False
    resume: bool = False
    """Whether `preset` names a run to be taken up again."""


def run(options: Options, start: Start | None = None, clock: Callable[[], float] = time.monotonic) -> int:
    """Run a preset, tell of it, and return the exit code. `start` is engine.client.start unless given."""
    record = Record()
    narration = console(sys.stderr, no_color=options.no_color)
    with Interrupts() as interrupts, narrator_for(narration, options.verbosity, clock) as narrator:
        try:
            client = _begin(options, start, narrator, record)
            interrupts.kill = client.kill
            follow(client, interrupts, narrator, record)
        except SimtuiError as error:
            record.fail(error)
        if interrupts.killed:
            record.interrupt()
    return _conclude(record, options, narration)


def _begin(options: Options, start: Start | None, narrator: Narrator, record: Record) -> Client:
    if options.resume:
        return _resume(options, record)
    if start is None:
        from engine import client

        start = client.start
    loaded = settings.load(options.preset, options.sets)
    for setting in loaded.set_aside:
        narrator.hear(Notice("info", f"not used: {setting}"))
    record.name = loaded.preset.name
    record.directory = _directory(loaded.preset, options.out)
    return start(loaded.preset, loaded.toml, record.directory.path)


def _resume(options: Options, record: Record) -> Client:
    from engine import client

    run = runs.find_run(options.preset)
    loaded = runs.load_again(run, options.sets)
    record.name = loaded.preset.name
    record.directory = run
    return client.resume(loaded.toml, run.path)


def _directory(preset: Preset, out: str | None) -> RunDirectory:
    if out is not None:
        return claim_run_directory(_path(out))
    parent = preset.journal.directory
    return create_run_directory(_path(parent) if parent else default_parent(), preset.name, datetime.now())


def _path(name: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(name)))


def narrator_for(console: Console, verbosity: Verbosity, clock: Callable[[], float]) -> Narrator:
    """Return who tells of a run on this console."""
    if console.file.isatty() and not console.is_dumb_terminal:
        return LiveNarrator(console, verbosity)
    return PlainNarrator(console, clock, verbosity)


def follow(client: Client, interrupts: Interrupts, narrator: Hearer, record: Record) -> None:
    """Follow a run to its last word, and ask it to stop once a signal has asked for that."""
    asked = False
    for event in client.events():
        record.add(event)
        narrator.hear(event)
        if interrupts.reason and not asked:
            asked = True
            client.stop(interrupts.reason)
            narrator.hear(Notice("warning", f"stopping ({interrupts.reason}); Ctrl-C ends the run at once"))


def _interrupted(record: Record) -> str:
    if not record.has_run:
        return "interrupted before any agent acted"
    if record.was_killed:
        return "ended at once; what was written by then is saved"
    return "interrupted; everything up to here is saved"


def _conclude(record: Record, options: Options, narration: Console) -> int:
    last = record.last_word()
    stream = sys.stderr if options.json else sys.stdout
    page = narration if options.json else console(stream, no_color=options.no_color)
    print_report(page, record, blocks=streams.can_draw_blocks(stream))
    if options.json:
        stdout = streams.Lasting(sys.stdout)
        stdout.write(record.as_json() + "\n")
        stdout.flush()
    if last.state == "interrupted":
        narration.print(_interrupted(record))
    elif last.state == "budget":
        print_stop(narration, last)
    elif last.what:
        print_error(narration, last)
    if last.state != "done" and record.has_run and record.directory:
        name = shlex.quote(runs.name_of(record.directory))
        narration.print(f"go on with: simtui --resume {name}", markup=False, soft_wrap=True)
    return last.exit_code

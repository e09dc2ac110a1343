"""What a run says while it goes: one live line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum
from typing import Self

from rich.console import Console
from rich.live import Live

from app import progress, rounds
from app.sanitise import clean
from engine.cluster.control import Event, Notice, RoundReport, Snapshot

PLAIN_INTERVAL_S = 10.0
STYLES = {"info": "", "warning": "yellow", "error": "red"}


class Verbosity(IntEnum):
    """How much is said while a run goes."""

    QUIET = 0
    """Warnings and errors."""
    NORMAL = 1
    """Progress, finished rounds and notices, too."""
    VERBOSE = 2
    """What each round cost in processor time, too."""


class Narrator(ABC):
    """Prints finished rounds and notices; what becomes of progress is up to the subclass."""

    def __init__(self, console: Console, verbosity: Verbosity = Verbosity.NORMAL) -> None:
        self.console = console
        self.verbosity = verbosity
        self.rounds: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the narration, and leave the terminal as it was."""
        self.console.file.flush()

    def hear(self, event: Event) -> None:
        """Tell of an event, if it is worth it."""
        match event:
            case Snapshot():
                self.rounds = event.rounds
                if self.verbosity:
                    self.progress(event)
            case RoundReport() if self.verbosity:
                self._tell_round(event)
            case Notice() if self.verbosity or event.level != "info":
                self.console.print(clean(event.text), style=STYLES.get(event.level, ""), soft_wrap=True)

    @abstractmethod
    def progress(self, snapshot: Snapshot) -> None:
        """Show where the run stands."""

    @abstractmethod
    def width(self) -> int:
        """Return how wide a line may be."""

    def _tell_round(self, report: RoundReport) -> None:
        spent = rounds.split(report)
        if self.verbosity >= Verbosity.VERBOSE:
            spent.append(rounds.cpu(report))
        for parts in (rounds.row(report, self.rounds), ["", *spent]):
            for line in rounds.flow(parts, self.width()):
                self.console.print(line, soft_wrap=True)


class LiveNarrator(Narrator):
    """For a terminal: progress is one line that is overwritten in place."""

    def __init__(self, console: Console, verbosity: Verbosity = Verbosity.NORMAL) -> None:
        super().__init__(console, verbosity)
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def progress(self, snapshot: Snapshot) -> None:
        """Overwrite the line."""
        self._live.update(progress.live_line(snapshot, self.console.width), refresh=True)

    def width(self) -> int:
        """Return the terminal's width."""
        return self.console.width


class PlainNarrator(Narrator):
    """For a log: a line of progress each PLAIN_INTERVAL_S of `clock`."""

    def __init__(
        self, console: Console, clock: Callable[[], float], verbosity: Verbosity = Verbosity.NORMAL
    ) -> None:
        super().__init__(console, verbosity)
        self._clock = clock
        self._next = clock() + PLAIN_INTERVAL_S

    def progress(self, snapshot: Snapshot) -> None:
        """Print a line if it is time."""
        if self._clock() >= self._next:
            self._next = self._clock() + PLAIN_INTERVAL_S
            self.console.print(progress.plain_line(snapshot), soft_wrap=True)

    def width(self) -> int:
        """Return infinity, as it were: a line of a log is not broken, so that it can be searched."""
        return 1_000_000

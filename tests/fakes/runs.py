"""Real runs with real processes, of the scenario for tests."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil

from engine import client
from engine.cluster.control import Event, Finished, Notice, RoundReport
from engine.models.settings import Dummy, Policy
from engine.preset.schema import Answers, Engine, Journal, Population, Preset
from engine.preset.write import to_toml
from tests.fakes.trial import TrialSettings
from tests.fakes.waiting import wait_until


def trial(
    size: int,
    workers: int,
    *,
    start: str = "fork",
    policy: str | None = None,
    answers: dict[str, Any] | None = None,
    engine: dict[str, Any] | None = None,
    journal: dict[str, Any] | None = None,
    **scenario: Any,
) -> Preset:
    """Make a preset; keywords that are not named here are the scenario's settings."""
    return Preset(
        name="trial",
        scenario=TrialSettings(**scenario),
        population=Population(size=size),
        model=Policy(policy=policy) if policy else Dummy(latency_s=0),
        answers=Answers(**(answers or {})),
        engine=Engine(workers=workers, start=start, **(engine or {})),  # type: ignore[arg-type]
        journal=Journal(**(journal or {})),
    )


class Run:
    """A run, and the processes that belong to it."""

    def __init__(self, preset: Preset, directory: Path, *, resumed: bool = False) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        toml = to_toml(preset)
        self.client = client.resume(toml, directory) if resumed else client.start(preset, toml, directory)
        self.coordinator = psutil.Process(self.client._process.pid)
        self.sockets = Path(self.client._endpoints.folder)
        self.events: list[Event] = []
        self._stream = self.client.events()
        self._processes: set[psutil.Process] = {self.coordinator}

    def until(self, holds: Callable[[Event], bool]) -> Event:
        """Follow the run up to an event."""
        for event in self._stream:
            self.events.append(event)
            self.look()
            if holds(event):
                return event
        raise AssertionError(f"the run ended with {self.finished}")

    def until_round(self, round_: int) -> None:
        """Follow the run up to the end of a round."""
        self.until(lambda event: isinstance(event, RoundReport) and event.round == round_)

    def to_the_end(self) -> Finished:
        """Follow the run to its last word."""
        for event in self._stream:
            self.events.append(event)
        return self.finished

    @property
    def finished(self) -> Finished:
        """The last word."""
        last = self.events[-1]
        assert isinstance(last, Finished)
        return last

    @property
    def reports(self) -> list[RoundReport]:
        """The rounds told so far."""
        return [event for event in self.events if isinstance(event, RoundReport)]

    @property
    def notices(self) -> str:
        """What was told besides."""
        return "\n".join(event.text for event in self.events if isinstance(event, Notice))

    def values(self) -> list[list[float | None]]:
        """Return what the agents' steps returned, by round."""
        return [json.loads(str(report.outcome.stats["values"])) for report in self.reports]

    def look(self) -> list[psutil.Process]:
        """Note which processes the run has now, and return them."""
        with suppress(psutil.NoSuchProcess):
            self._processes.update(self.coordinator.children(recursive=True))
        return [process for process in self._processes if _alive(process)]

    @property
    def workers(self) -> list[psutil.Process]:
        """The workers of a run that forks them: they have the coordinator's command line."""
        return self._children("engine.cluster.main")

    @property
    def services(self) -> list[psutil.Process]:
        """The model services, which are spawned."""
        return self._children("spawn_main")

    def _children(self, part: str) -> list[psutil.Process]:
        """The living ones with this in their command line."""
        found = []
        with suppress(psutil.NoSuchProcess):
            for child in self.coordinator.children():
                with suppress(psutil.NoSuchProcess):  # a zombie, too
                    found += [child] if part in " ".join(child.cmdline()) else []
        return found

    @property
    def has_ended(self) -> bool:
        """Whether its coordinator has."""
        return self.client._process.poll() is not None

    def check_that_nothing_is_left(self) -> None:
        """Fail unless all processes end and the folder of sockets goes."""
        wait_until(lambda: not self.look(), "all processes of the run have ended")
        wait_until(lambda: not self.sockets.exists(), "the folder of sockets is gone")

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the journal."""
        with closing(sqlite3.connect(f"file:{self.directory / 'run.db'}?mode=ro", uri=True)) as db:
            return db.execute(sql).fetchall()


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def play(preset: Preset, directory: Path) -> Run:
    """Play a run to its end and check that it cleans up."""
    run = Run(preset, directory)
    run.look()
    run.to_the_end()
    run.check_that_nothing_is_left()
    return run


def replies(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield key, prompt and value of every reply in the journal, in order of keys."""
    yield from run.query("SELECT key, prompt, value FROM replies ORDER BY key")

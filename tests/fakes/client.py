"""A run that is a script of events, for everything that watches runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from engine.cluster.control import Event, Finished, RoundReport, Snapshot, TimeSplit
from engine.scenarios.scenario import Outcome

Step = Event | Callable[["FakeClient"], Event | None]


class FakeClient:
    """Plays the events it was given; a step may be a function, which may act and return an event or None.

    After `stop` it skips to `on_stop`, after `kill` it ends at once with a failure, as a run does.
    """

    def __init__(self, steps: Iterable[Step], on_stop: Iterable[Event] = ()) -> None:
        self.steps = list(steps)
        self.on_stop = list(on_stop) or [Finished("interrupted", 130, "asked to stop")]
        self.directory = Path("unset")
        self.stopped: list[str] = []
        self.killed = False

    def start(self, preset: object, preset_toml: str, directory: Path) -> FakeClient:
        """Stand in for engine.client.start."""
        self.directory = directory
        return self

    def events(self) -> Iterator[Event]:
        """Play the script."""
        for step in self.steps:
            event = step(self) if callable(step) else step
            if event is not None:
                yield event
            if self.killed:
                yield Finished("failed", 1, "the coordinator was killed by SIGKILL")
                return
            if self.stopped:
                yield from self.on_stop
                return

    def stop(self, reason: str) -> None:
        """Skip to the end."""
        self.stopped.append(reason)

    def kill(self) -> None:
        """End at once."""
        self.killed = True


def snapshot(**changes: object) -> Snapshot:
    """Return a snapshot of a run in the middle of round 2."""
    fields = {
        "state": "running", "round": 2, "rounds": 3, "n_agents": 100, "n_done": 43, "in_flight": 32,
        "rate": 3.24, "elapsed_s": 20.0, "eta_s": 75.0, "eta_basis": "the last 20 s", "failures": {},
    }  # fmt: skip
    return Snapshot(**{**fields, **changes})  # type: ignore[arg-type]


def round_report(number: int = 1, mean: float = 41.234, **changes: object) -> RoundReport:
    """Return a finished round of the guessing game."""
    stats = {
        "mean": mean, "median": 40.0, "sd": 12.118, "mode": 50.0, "target": mean * 2 / 3, "winners": 3.0
    }  # fmt: skip
    fields = {
        "round": number,
        "outcome": Outcome(stats, None, [0, 2, 10, 30, 20, 20, 10, 5, 2, 1], 0.0, 100.0),
        "n_agents": 100, "n_answered": 98, "n_excluded": 2, "n_failed": 0, "seconds": 12.4, "cpu_s": 0.31,
        "split": TimeSplit(11.9, 0.2, 0.1, 0.2, 0.35),
    }  # fmt: skip
    return RoundReport(**{**fields, **changes})  # type: ignore[arg-type]


DONE = Finished("done", 0)

"""What became of a run, as the command line tells it at the end."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from app.people_summary import as_builtins
from engine.cluster.control import Event, Finished, PeopleReport, RoundReport, Snapshot, Usage
from engine.errors import ExitCode, SimtuiError
from engine.journal.run_directory import RunDirectory


class Record:
    """Collects the events of a run; `finished` stays None until the run said its last word."""

    def __init__(self) -> None:
        self.name = ""
        self.directory: RunDirectory | None = None
        self.people: PeopleReport | None = None
        self.reports: list[RoundReport] = []
        self.failures: dict[str, int] = {}
        self.usage: list[Usage] = []
        self.finished: Finished | None = None
        self.was_killed = False
        self.has_run = False
        """Whether agents have acted, or personas were written: only then is there something to go on with."""

    def add(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case RoundReport():
                self.reports.append(event)
            case PeopleReport():
                self.people = event
            case Snapshot():
                self.has_run = self.has_run or event.round > 0 or event.state == "writing"
                self.failures, self.usage = event.failures, event.usage
            case Finished():
                self.finished = event

    def fail(self, error: SimtuiError) -> None:
        """Note an error that ended the run on this side of the control link."""
        self.finished = Finished("failed", int(error.exit_code), error.what, error.where, error.hint)

    def interrupt(self) -> None:
        """Note that the run was killed on request; what it says about its sudden death is no news."""
        self.was_killed = True
        self.finished = Finished("interrupted", int(ExitCode.INTERRUPTED))

    def last_word(self) -> Finished:
        """Return how the run ended."""
        return self.finished or Finished("failed", int(ExitCode.FAILED), "the run ended without saying why")

    def as_json(self) -> str:
        """Return the object of `--json`, in ASCII, so that no text in it can reach the terminal raw."""
        last = self.last_word()
        failed = last.what and last.state != "interrupted"
        error = {"what": last.what, "where": last.where, "hint": last.hint} if failed else None
        summary = {
            "name": self.name,
            "state": last.state,
            "exit_code": last.exit_code,
            "error": error,
            "people": as_builtins(self.people),
            "rounds": [_round(report) for report in self.reports],
            "failures": self.failures,
            "usage": [msgspec.structs.asdict(used) for used in self.usage],
            "run_directory": self.directory and str(self.directory.path),
            "run_file": self.directory and str(self.directory.run_file),
        }
        return json.dumps(summary, allow_nan=False)


def _round(report: RoundReport) -> dict[str, Any]:
    fields = msgspec.structs.asdict(report)
    outcome, split = report.outcome, report.split
    del fields["outcome"]
    return {
        **fields,
        "split": msgspec.structs.asdict(split),
        "usage": [msgspec.structs.asdict(used) for used in report.usage],
        "stats": _finite(outcome.stats),
        "unaffected": None if report.unaffected is None else _finite(report.unaffected),
        "histogram": {"low": outcome.low, "high": outcome.high, "counts": outcome.histogram},
    }


def _finite(stats: Mapping[str, float | str | None]) -> dict[str, float | str | None]:
    """Return stats without what JSON has no form for."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in stats.items()
    }

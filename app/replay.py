"""Repeats a run from its journal and compares."""

from __future__ import annotations

import difflib
import json
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.sanitise import clean
from engine import client
from engine.cluster.control import Finished
from engine.errors import SimtuiError, UsageError
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.keys import unpack


@dataclass(frozen=True)
class Divergence:
    """A call that is not what it was; a prompt is None where there is none or it was not kept."""

    round: int
    agent: int
    call: int
    then: list[Any] | None
    now: list[Any]


@dataclass(frozen=True)
class Replay:
    """What came of repeating a run."""

    n_rounds: int
    rounds: list[int]
    """Rounds that ended otherwise."""
    calls: list[Divergence]

    @property
    def agrees(self) -> bool:
        """Whether everything came out the same."""
        return not self.rounds and not self.calls

    def as_json(self) -> dict[str, Any]:
        """Return the object of `--json`."""
        calls = [vars(call) for call in self.calls]
        return {
            "agrees": self.agrees,
            "rounds": self.n_rounds,
            "diverged_rounds": self.rounds,
            "diverged_calls": calls,
        }

    def as_text(self, most: int) -> str:
        """Return what is printed, with the first `most` divergences."""
        if self.agrees:
            return f"agrees: {self.n_rounds} rounds repeated, every prompt and every round the same"
        lines = [f"differs: {len(self.calls)} calls, rounds {self.rounds or 'none'}"]
        for call in self.calls[:most]:
            lines += [f"agent {call.agent}, round {call.round}, call {call.call}:", *_difference(call)]
        if len(self.calls) > most:
            lines.append(f"... and {len(self.calls) - most} more (--json has all)")
        return "\n".join(lines)


def replay(run: RunDirectory) -> Replay:
    """Repeat the finished rounds of a run. Raises SimtuiError."""
    with Reader(run.run_file) as reader:
        n_rounds = len(reader.rounds())
    if not n_rounds:
        raise UsageError(
            "no round of this run is finished", where=str(run.path), hint="Go on with it: simtui --resume."
        )
    with tempfile.TemporaryDirectory(prefix="simtui-replay-") as folder:
        scratch = RunDirectory(Path(folder))
        _run(client.replay(run.preset.read_text(encoding="utf-8"), scratch.path, run.path))
        return _findings(run, scratch, n_rounds)


def _run(started: client.RunClient) -> None:
    for event in started.events():
        if isinstance(event, Finished) and event.state != "done":
            raise SimtuiError(event.what, where=event.where, hint=event.hint)


def _findings(run: RunDirectory, scratch: RunDirectory, n_rounds: int) -> Replay:
    with closing(sqlite3.connect(scratch.run_file)) as found, closing(sqlite3.connect(run.run_file)) as then:
        rounds = [
            int(detail.rpartition(" ")[2])
            for (detail,) in found.execute("SELECT detail FROM events WHERE kind = 'diverged' ORDER BY id")
        ]
        calls = found.execute("SELECT key, detail FROM failures WHERE kind = 'diverged' ORDER BY key")
        return Replay(n_rounds, rounds, [_divergence(then, key, now) for key, now in calls])


def _divergence(then: sqlite3.Connection, key: int, now: str) -> Divergence:
    row = then.execute("SELECT messages FROM replies WHERE key = ?", (key,)).fetchone()
    before = json.loads(row[0]) if row and row[0] else None
    return Divergence(*unpack(key), then=before, now=json.loads(now))


def _difference(call: Divergence) -> list[str]:
    if call.then is None:
        return ["  the journal has no prompt for this call", *_lines(call.now, "  + ")]
    before, after = _lines(call.then, ""), _lines(call.now, "")
    if before == after:
        return ["  the shared messages before this prompt are not what they were"]
    return [f"  {line}" for line in difflib.unified_diff(before, after, "then", "now", lineterm="", n=1)]


def _lines(messages: list[Any], indent: str) -> list[str]:
    return [
        f"{indent}{role}: {line}" for role, text in messages for line in clean(text, lines=True).splitlines()
    ]

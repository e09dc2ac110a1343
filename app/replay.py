"""Repeats a run from its journal and compares."""

from __future__ import annotations

import difflib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from app import figures, runs
from app.sanitise import clean
from engine import client
from engine.cluster.control import Finished
from engine.errors import SimtuiError, UsageError
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.journal.run_file import RunFile
from engine.keys import pack, unpack


@dataclass(frozen=True)
class Divergence:
    """A call that is not what it was: its prompt then and now.

    `then` is None where there was none or it was not kept, `now` where the call is not made any more.
    """

    round: int
    agent: int
    call: int
    then: list[Any] | None
    now: list[Any] | None


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
            repeated = figures.plural(self.n_rounds, "round")
            return f"agrees: {repeated} repeated, every prompt and every round the same"
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
        _run(client.replay(runs.for_scratch(run).toml, scratch.path, run.path))
        with Reader(scratch.run_file) as found, Reader(run.run_file) as then:
            return _findings(found, then, n_rounds)


def _run(started: client.RunClient) -> None:
    for event in started.events():
        if isinstance(event, Finished) and event.state != "done":
            raise SimtuiError(event.what, where=event.where, hint=event.hint)


_ROUNDS = "SELECT detail FROM events WHERE kind = 'diverged' ORDER BY id"
_CALLS = "SELECT key, detail FROM failures WHERE kind = 'diverged' ORDER BY key"
_PROMPT = "SELECT messages FROM replies WHERE key = ?"
_KEYS = "SELECT key FROM replies WHERE key >= ? AND key < ? ORDER BY key"


def _findings(found: RunFile, then: RunFile, n_rounds: int) -> Replay:
    rounds = [int(detail.rpartition(" ")[2]) for (detail,) in found.rows(_ROUNDS)]
    calls = [Divergence(*unpack(key), _prompt(then, key), json.loads(now)) for key, now in found.rows(_CALLS)]
    end = pack(n_rounds + 1, 0)
    calls += [Divergence(*unpack(key), _prompt(then, key), None) for key in _missing(then, found, end)]
    return Replay(n_rounds, rounds, sorted(calls, key=lambda call: (call.round, call.agent, call.call)))


def _missing(then: RunFile, found: RunFile, end: int) -> Iterator[int]:
    """Yield the calls before `end` that were made then and not now, in order and in little memory.

    Personas are taken as they were written, so that their calls are not made again.
    """
    begin = pack(1, 0)
    now = chain.from_iterable(found.stream(_KEYS, begin, end))
    next_now = next(now, None)
    for (key,) in chain.from_iterable(then.stream(_KEYS, begin, end)):
        while next_now is not None and next_now[0] < key:
            next_now = next(now, None)
        if next_now is None or next_now[0] != key:
            yield key


def _prompt(then: RunFile, key: int) -> list[Any] | None:
    row = then.row(_PROMPT, key)
    return json.loads(row[0]) if row and row[0] else None


def _difference(call: Divergence) -> list[str]:
    if call.now is None:
        return ["  is not made any more", *_lines(call.then or [], "  - ")]
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

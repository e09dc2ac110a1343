"""`simtui verify`: whether the files of a run are whole and agree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from app.replay import replay
from app.sanitise import clean, json_line
from engine.errors import UsageError
from engine.journal.run_directory import RunDirectory
from engine.verify.check import Check, Subject
from engine.verify.verify import verify

COLOURS = {"ok": "green", "wrong": "red", "unchecked": "yellow"}
LABEL = 11


def verify_run(run: RunDirectory, *, by_replay: bool) -> list[Check]:
    """Check a run, with a replay if asked to. Raises SimtuiError."""
    return verify(run, [replay_agrees] if by_replay else [])


def replay_agrees(subject: Subject) -> Iterator[Check]:
    """The run's code, given the journalled replies, comes to the same prompts and results."""
    check = Check("replay agrees")
    try:
        found = replay(subject.run)
    except UsageError as error:
        check.unchecked.append(str(error))
    else:
        check.add(n=found.n_rounds)
        for round_ in found.rounds:
            check.add(f"round {round_} ends otherwise", 0)
        for call in found.calls:
            check.add(f"round {call.round}, agent {call.agent}, call {call.call}: another prompt", 0)
    yield check


def as_json(run: RunDirectory, checks: Sequence[Check]) -> str:
    """Return the object of `--json`."""
    found = [{**asdict(check), "state": check.state} for check in checks]
    return json_line({"run_directory": run.path, "ok": is_sound(checks), "checks": found})


def is_sound(checks: Sequence[Check]) -> bool:
    """Tell whether nothing is wrong."""
    return all(check.state != "wrong" for check in checks)


def print_checks(console: Console, checks: Sequence[Check]) -> None:
    """Print a line a check, and below it what is wrong and what could not be checked."""
    for check in checks:
        n = f" ({check.n:,})" if check.n > 1 else ""
        label = Text(f"{check.state:{LABEL}}", style=COLOURS[check.state])
        console.print(label + f"{clean(check.name)}{n}", soft_wrap=True)
        for problem in check.wrong:
            console.print(" " * LABEL + clean(problem), soft_wrap=True)
        if check.n_wrong > len(check.wrong):
            console.print(f"{'':{LABEL}}... and {check.n_wrong - len(check.wrong):,} more", soft_wrap=True)
        for reason in check.unchecked:
            console.print(f"{'':{LABEL}}not checked: {clean(reason)}", soft_wrap=True)

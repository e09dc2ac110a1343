"""`simtui show RUN AGENT`: the life of one agent, as it was told and as it spoke."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from rich.console import Console
from rich.text import Text

from app import figures
from app.sanitise import clean, json_line
from engine.errors import UsageError
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.journal.story import Call, Chapter, Failure, Mail, Turns, story

LABEL = 11
MAX_CHARS = 200_000
"""Longer than any text that a journal keeps by default."""
NOT_KEPT = "(not kept: [journal] transcripts leaves this agent out)"

Labelled = tuple[str, str]


def read_story(run: RunDirectory, agent: int, round_: int | None) -> list[Chapter]:
    """Return the life of an agent, or one round of it. Raises SimtuiError."""
    with Reader(run.run_file) as file, file.snapshot():
        n_agents = file.meta().get("agents")
        if isinstance(n_agents, int) and not 0 <= agent < n_agents:
            raise UsageError(
                f"there is no agent {agent}",
                where=str(run.path),
                hint=f"The {n_agents:,} agents are numbered from 0 to {n_agents - 1}.",
            )
        return list(story(file, agent, round_))


def as_json(run: RunDirectory, agent: int, chapters: Sequence[Chapter]) -> str:
    """Return the object of `--json`."""
    return json_line({"run_directory": str(run.path), "agent": agent, "rounds": chapters})


def print_story(console: Console, agent: int, chapters: Iterable[Chapter]) -> None:
    """Print the life of an agent; what a prompt repeats of the one before is not printed again."""
    shown: Turns = []
    console.print(f"Agent {agent}", style="bold")
    for chapter in chapters:
        for mail in chapter.mail:
            console.print(f"\nRound {chapter.round}, message", style="bold")
            _print(console, _told(mail, agent))
        for call in chapter.calls:
            console.print()
            console.print(_heading(chapter.round, call), style="bold")
            _print(console, _spoken(call, shown))
            shown = (call.prompt or []) + [("assistant", call.text or "")]
        for failure in chapter.failures:
            console.print(f"\nRound {chapter.round}, the agent itself", style="bold")
            _print(console, _failed(failure))


def _heading(round_: int, call: Call) -> str:
    spent = [clean(call.model, 60)]
    if call.tokens_in is not None:
        spent.append(f"{figures.number(call.tokens_in)} tokens in, {figures.number(call.tokens_out)} out")
    if call.busy_s is not None:
        spent.append(figures.seconds(call.busy_s))
    return f"Round {round_}, call {call.call} ({', '.join(spent)})"


def _spoken(call: Call, shown: Turns) -> Iterator[Labelled]:
    if call.prompt is None:
        yield "prompt", NOT_KEPT
    else:
        yield from _prompt(call.prompt, shown)
    yield "reply", NOT_KEPT if call.text is None else call.text
    if call.finish != "stop":
        yield "finish", call.finish
    if call.value is not None:
        yield "value", figures.number(call.value, MAX_CHARS)
    if call.problem is not None and not call.failures:
        yield "problem", call.problem
    for failure in call.failures:
        yield from _failed(failure, "problem")


def _prompt(prompt: Turns, shown: Turns) -> Iterator[Labelled]:
    pairs = zip(prompt, shown, strict=False)
    n_repeated = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if n_repeated:
        yield "", f"(messages as above: {n_repeated})"
    yield from prompt[n_repeated:]


def _failed(failure: Failure, label: str = "failure") -> Iterator[Labelled]:
    yield label, f"{failure.kind}: {failure.detail or ''} ({failure.action or 'nothing done'})"
    if failure.traceback:
        yield "traceback", failure.traceback.rstrip()


def _told(mail: Mail, agent: int) -> Iterator[Labelled]:
    asked = mail.kind == "ask"
    if mail.receiver == agent:
        yield "from", f"agent {mail.sender}{', who asks' if asked else ''}"
    else:
        yield "to", f"agent {mail.receiver}{', a question' if asked else ''}"
    yield "message", NOT_KEPT if mail.message is None else mail.message
    if mail.answer is not None:
        yield "answer", mail.answer
    if mail.error is not None:
        yield "error", mail.error


def _print(console: Console, parts: Iterable[Labelled]) -> None:
    for label, text in parts:
        lines = Text(clean(text, MAX_CHARS, lines=True)).wrap(console, max(20, console.width - LABEL - 1))
        for n, line in enumerate(lines):
            head = Text(f"{clean(label, LABEL - 1) if n == 0 else '':{LABEL}}", style="dim")
            line.rstrip()
            console.print(head + line, soft_wrap=True)

"""`simtui show RUN AGENT`: the life of one agent, as it was told and as it spoke."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

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


class Life(NamedTuple):
    """An agent in a run."""

    agent: int
    person: Mapping[str, Any]
    """Attributes, and `persona`; empty if the agents are alike."""
    chapters: Sequence[Chapter]


def read_story(run: RunDirectory, agent: int, round_: int | None) -> Life:
    """Return who an agent is and its life, or one round of it. Raises SimtuiError."""
    with Reader(run.run_file) as file, file.snapshot():
        facts = file.meta()
        n_agents, n_rounds = facts.get("agents"), facts.get("rounds")
        if isinstance(n_agents, int) and isinstance(places := facts.get("places"), int):
            n_agents += places
        if isinstance(n_agents, int) and not 0 <= agent < n_agents:
            hint = f"Agents are numbered from 0; the last one is {n_agents - 1}."
            raise UsageError(f"there is no agent {agent}", where=str(run.path), hint=hint)
        if isinstance(n_rounds, int) and round_ is not None and round_ > n_rounds:
            hint = f"The run has {figures.plural(n_rounds, 'round')}."
            raise UsageError(f"there is no round {round_}", where=str(run.path), hint=hint)
        return Life(agent, file.person(agent), list(story(file, agent, round_)))


def as_json(run: RunDirectory, life: Life) -> str:
    """Return the object of `--json`."""
    person, rounds = life.person, life.chapters
    return json_line(
        {"run_directory": str(run.path), "agent": life.agent, "person": person, "rounds": rounds}
    )


def print_story(console: Console, life: Life) -> None:
    """Print who an agent is, and its life; what a prompt repeats of the one before is not printed again."""
    shown: Turns = []
    agent = life.agent
    console.print(f"Agent {agent}", style="bold")
    _print_person(console, life.person)
    if not life.chapters:
        console.print("\nNothing has happened to it here: no prompt, no message, no failure.")
    for chapter in life.chapters:
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


def _print_person(console: Console, person: Mapping[str, Any]) -> None:
    attributes = {name: value for name, value in person.items() if name != "persona"}
    width = max(map(len, attributes), default=0)
    for name, value in attributes.items():
        console.print(f"{clean(name):{width}}  {clean(figures.number(value, MAX_CHARS))}", soft_wrap=True)
    if persona := person.get("persona"):
        console.print(Text(clean(persona, MAX_CHARS, lines=True)))


def _heading(round_: int, call: Call) -> str:
    spent = [clean(call.model, 60)]
    if call.tokens_in is not None:
        spent.append(f"{figures.number(call.tokens_in)} tokens in, {figures.number(call.tokens_out)} out")
    if call.busy_s is not None:
        spent.append(figures.seconds(call.busy_s))
    which = f"Round {round_}, call {call.call}" if round_ else f"Persona, attempt {call.call + 1}"
    return f"{which} ({', '.join(spent)})"


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

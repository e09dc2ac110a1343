"""`simtui new scenario NAME`: a scenario to begin with, its preset and a test, all of which work."""

from __future__ import annotations

from pathlib import Path

import click

SCENARIO = '''\
"""What this scenario is about, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta
from simtui import Agent, Message, Number, Outcome, Scenario, ScenarioSettings, Turn


class Settings(ScenarioSettings, frozen=True, kw_only=True, tag="@name@"):
    """One line that `simtui scenarios` shows."""

    high: Annotated[int, Meta(ge=1)] = 100
    """Largest number allowed; a setting of your own, with its bounds."""


class Member(Agent):
    """An agent: it is asked once a round."""

    async def step(self, observation: str) -> float:
        """Ask the model, keep the conversation, and return what `tally` is to have."""
        question = f"{observation}Name a whole number from 0 to {self.world.scenario.high}."
        prompt = self.memory.with_user(question)
        number = await self.model.chat(prompt, self.world.scenario.answer, facts={"round": self.round})
        self.memory.remember(prompt, f"{number:.0f}")
        return number


class @class@(Scenario):
    """What agents are told, and what is made of their answers."""

    Settings = Settings
    Observation = str

    def __init__(self, settings: Settings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.high = settings.high
        self.answer = Number(0, settings.high)

    def agent(self, agent_id: int) -> Agent:
        """Make an agent."""
        return Member(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules, which all conversations begin with."""
        return (Message("system", "You take part in a survey. Reply with a number alone."),)

    def opening(self, group: int) -> str:
        """Return what is told before round 1."""
        return ""

    def tally(self, members: range, values: Sequence[float | None]) -> list[float]:
        """Keep the answers that there are."""
        return [value for value in values if value is not None]

    def conclude(self, round_: int, group: int, tallies: Sequence[list[float]]) -> Outcome:
        """Make the row of the table, and what is told next."""
        numbers = [number for tally in tallies for number in tally]
        if not numbers:
            return Outcome({"mean": None}, "")
        mean = sum(numbers) / len(numbers)
        return Outcome({"mean": mean}, f"The average was {mean:.1f}. ")


def middle(turn: Turn) -> str:
    """Name the number in the middle."""
    return str(turn.settings.high // 2)


@class@.policies = {"middle": middle}
'''

PRESET = """\
# simtui --trust @name@.py --run @name@.toml
name = "@name@"
description = "A first run of @name@, by a policy; other models: see docs/presets.md"

[scenario]
name = "@name@"
file = "@name@.py"
rounds = 2

[population]
size = 10

[model]
backend = "policy"
policy = "middle"
"""

TEST = '''\
"""Plays the preset of @name@ as the command line does. Run with pytest."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SIMTUI = [sys.executable, "-c", "from app.main import main; main()"]


def test_the_preset_runs(tmp_path: Path) -> None:
    trusted = ["--trust", str(HERE / "@name@.py"), "--run", str(HERE / "@name@.toml")]
    command = [*SIMTUI, *trusted, "--json", "--out", str(tmp_path / "run")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    record = json.loads(run.stdout)
    assert [round_["stats"]["mean"] for round_ in record["rounds"]] == [50, 50]
    assert record["failures"] == {}
'''


@click.group()
def new() -> None:
    """Write a skeleton of something of your own."""


@new.command()
@click.argument("name")
@click.option("--into", metavar="DIR", default=".", help="Folder to write into; this one if not given.")
def scenario(name: str, into: str) -> None:
    """Write NAME.py with a scenario that works, NAME.toml that runs it, and test_NAME.py.

    \b
    simtui new scenario auction
    simtui --trust auction.py --run auction.toml
    """
    from engine.errors import UsageError

    _check(name)
    folder = Path(into)
    texts = {f"{name}.py": SCENARIO, f"{name}.toml": PRESET, f"test_{name}.py": TEST}
    for file in texts:
        if (folder / file).exists():
            raise UsageError(
                "this file is there already", where=str(folder / file), hint="Take another name."
            )
    class_name = "".join(part.capitalize() for part in name.split("_"))
    try:
        for file, text in texts.items():
            (folder / file).write_text(text.replace("@name@", name).replace("@class@", class_name), "utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write there: {error.strerror}",
            where=str(folder),
            hint="Name another folder with --into.",
        ) from error
    click.echo(f"wrote {', '.join(texts)}; run it with: simtui --trust {name}.py --run {name}.toml")


def _check(name: str) -> None:
    """Raise UsageError unless a scenario may have this name."""
    import keyword
    import re

    from engine.errors import UsageError
    from engine.scenarios import registry

    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name) or keyword.iskeyword(name):
        raise UsageError(
            f"{name!r} cannot be the name of a scenario",
            where="new scenario",
            hint="Take small letters, digits and underscores, a letter first.",
        )
    if name in registry.names():
        raise UsageError(
            f"there is a scenario {name} already", where="new scenario", hint="Take another name."
        )

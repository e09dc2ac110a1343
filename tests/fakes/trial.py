"""A scenario for tests: its agents act as `[scenario] act` says, and a victim among them misbehaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from itertools import chain
from typing import Any

from engine.agents.agent import Agent
from engine.agents.effects import gather
from engine.agents.post import AskFailed
from engine.models.answers import Number, Text
from engine.models.protocol import Message
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

NUMBER = Number(0, 999)


class TrialSettings(ScenarioSettings, frozen=True, kw_only=True, tag="trial"):
    """What the agents do, who does something else and when, and what is broken in the scenario itself."""

    act: str = "answer"
    victim: int = 0
    when: int = 1
    gate: str = ""
    """A file that a test makes, or that marks that something has happened once."""
    broken: str = ""
    """The method that raises."""


class Plain(Agent):
    """Asks the model for a number; the victims of the other acts are like this in other rounds."""

    async def step(self, observation: float) -> Any:
        settings = self.world.scenario.settings
        if self.id == settings.victim and self.round == settings.when:
            return await self.misbehave()
        return await self.number(f"The sum was {observation:g}.")

    async def number(self, text: str) -> float:
        value: float = await self.model.chat(self.memory.with_user(text), NUMBER)
        return value

    async def misbehave(self) -> Any:
        return await self.number("I behave.")


class Raises(Plain):
    async def misbehave(self) -> Any:
        raise LookupError("the victim's own fault")


class Exits(Plain):
    async def misbehave(self) -> Any:
        raise SystemExit(7)


class Spins(Plain):
    async def misbehave(self) -> Any:
        while True:
            pass


class Stubborn(Plain):
    """Tries again whatever goes wrong, as code around models does."""

    async def misbehave(self) -> Any:
        while True:
            try:
                await Spins.misbehave(self)
            except Exception:
                continue


class StubbornlyWaits(Plain):
    async def misbehave(self) -> Any:
        while True:
            try:
                await asyncio.Event().wait()
            except Exception:
                continue


class Waits(Plain):
    async def misbehave(self) -> Any:
        await asyncio.Event().wait()


class Rubbish(Plain):
    async def misbehave(self) -> Any:
        return "not a number"


class Megabyte(Plain):
    """The victim returns a text of 1 MB, which `accept` refuses."""

    async def misbehave(self) -> Any:
        return "x" * 1_000_000


class Kills(Plain):
    """The victim kills its own process, each time."""

    async def misbehave(self) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Forgetful(Plain):
    """The author forgot `async`."""

    def step(self, observation: float) -> Any:
        return 7.0


class Assorted(Plain):
    """Each of the first agents fails in a way of its own."""

    async def step(self, observation: float) -> Any:
        kinds: list[type[Plain]] = [Raises, Exits, Stubborn, StubbornlyWaits, Rubbish, Megabyte]
        if self.round == self.world.scenario.settings.when and self.id < len(kinds):
            return await kinds[self.id].misbehave(self)
        return await self.number("All is well.")


class Gated(Plain):
    """The victim waits for the test."""

    async def misbehave(self) -> Any:
        while not os.path.exists(self.world.scenario.settings.gate):
            await asyncio.sleep(0.01)
        return await self.number("Thank you.")


class Writes(Plain):
    """Asks for a free text and returns its length."""

    async def step(self, observation: float) -> Any:
        return len(await self.model.chat(self.memory.with_user("Write."), Text()))


class Holds(Plain):
    """Waits for ever from round `when` on, so that a test can act in the middle of a run."""

    async def step(self, observation: float) -> Any:
        if self.round >= self.world.scenario.settings.when:
            await asyncio.Event().wait()
        return await self.number("Before.")


class Talks(Plain):
    """Uses all there is: several model calls, messages told and asked, memory and randomness."""

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.heard: list[tuple[int, int, int]] = []

    async def step(self, observation: float) -> Any:
        first = await self.number(f"{observation:g} {self.heard}")
        prompt = self.memory.with_user(f"{first:g}")
        self.memory.remember(prompt, "so be it")
        second, third = await gather(self.model.chat(prompt, NUMBER), self.model.chat(prompt, NUMBER))
        members = self.world.members
        place = members.index(self.id)
        self.tell(members[place - 1], int(first))
        self.tell(members[(place + len(members) // 2) % len(members)], int(second))
        answers = 0
        third = len(members) // 3
        if (
            place < third
        ):  # each of these asks two that nobody else asks: all orders of arrival come to the same
            asked = [self.ask(members[place + n * third], [self.id]) for n in (1, 2)]
            answers = sum(await gather(*asked))
        self.heard, heard = [], sum(sender * number for sender, number, _ in self.heard)
        return (first + second + third + answers + heard + self.rng.integers(1000)) % 1_000_003

    async def receive(self, message: Any, sender: int) -> Any:
        if isinstance(message, list):
            return await self.number(f"Agent {message} asks.") + self.id
        self.heard.append((sender, message, self.round))
        return None


class Embraces(Plain):
    """The first and the last agent ask each other from their steps; then they go on alone."""

    async def step(self, observation: float) -> Any:
        ends = (self.world.members[0], self.world.members[-1])
        if self.id not in ends:
            return await self.number("?")
        try:
            return await self.ask(ends[self.id == ends[0]], "after you")
        except AskFailed:
            return -1

    async def receive(self, message: Any, sender: int) -> Any:
        return 7


class Awaits(Plain):
    """Waits for ordinary asyncio things between its calls."""

    async def step(self, observation: float) -> Any:
        first = await self.number("?")
        await asyncio.sleep(0)
        text = await asyncio.to_thread(str, first)
        task = asyncio.create_task(asyncio.sleep(0.01, result=len(text)))
        return await self.number(text) + await task


def _die() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def _mark(path: str) -> bool:
    """Return whether a file was there already, and make it."""
    there = os.path.exists(path)
    open(path, "a").close()
    return there


ACTS = {act.__name__.lower(): act for act in Plain.__subclasses__()} | {"answer": Plain}


class Trial(Scenario):
    """Tallies are the values; the observation of a round is the sum of the last one."""

    Settings = TrialSettings
    Observation = float
    settings: TrialSettings
    policies = {
        "megabyte": lambda turn: "x" * 1_000_000,
        "rubbish": lambda turn: "about forty",
        "die": lambda turn: _die(),
        "die_once": lambda turn: "7" if _mark(turn.settings.gate) else _die(),
        "number": lambda turn: str(turn.rng.randrange(1000)),
    }

    def agent(self, agent_id: int) -> Agent:
        self._check("agent")
        return ACTS[self.settings.act](agent_id)

    def __init__(self, settings: TrialSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self._check("__init__")

    def _check(self, method: str) -> None:
        if self.settings.broken == method:
            raise ZeroDivisionError(f"{method} is broken")

    def shared(self, group: int) -> tuple[Message, ...]:
        self._check("shared")
        return (Message("system", f"Group {group}."),)

    def opening(self, group: int) -> float:
        self._check("opening")
        return 0.0

    def accept(self, value: Any) -> str | None:
        self._check("accept")
        return None if isinstance(value, (int, float)) else "a value has to be a number"

    def tally(self, members: range, values: Sequence[Any]) -> Any:
        self._check("tally")
        if self.settings.broken == "what tally returns":
            return object()
        return [None if value is None else float(value) for value in values]

    def conclude(self, round_: int, group: int, tallies: Sequence[Any]) -> Outcome:
        self._check("conclude")
        values = list(chain.from_iterable(tallies))
        total = sum(value for value in values if value is not None)
        return Outcome({"sum": total, "values": json.dumps(values)}, total)


class CoupledSettings(TrialSettings, frozen=True, kw_only=True, tag="coupled"):
    """As the other one."""


class Passing(Plain):
    """Tells every other agent of the whole population something, and returns what it heard."""

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.heard = 0

    async def step(self, observation: float) -> Any:
        heard, self.heard = self.heard, 0
        for other in range(self.world.scenario.n_agents):
            self.tell(other, self.id * self.round)
        return heard + await self.number("?") * 1e6

    async def receive(self, message: int, sender: int) -> None:
        self.heard = self.heard * 31 % 65_537 + message


class Coupled(Trial):
    """Groups that exchange messages."""

    Settings = CoupledSettings
    coupled = True

    def agent(self, agent_id: int) -> Agent:
        return Passing(agent_id)

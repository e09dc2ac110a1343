"""A scenario whose agents do, each round, what dice tell them: all that agents can do, in any combination.

The dice are those of (plan, agent, round), and replies depend on the prompt alone. So with `stateful` off, as
no agent counts its answers, a run comes to the same whatever the order of what happens.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from random import Random
from typing import Any

import msgspec

from engine.agents.agent import Agent
from engine.agents.births import NoRoom
from engine.agents.effects import AnswerFailed, gather
from engine.agents.memory import Prompt
from engine.agents.post import AskFailed
from engine.environments.calls import CallFailed
from engine.environments.environment import Environment
from engine.environments.listeners import Event, event
from engine.environments.methods import buffered
from engine.models.answer_list import List
from engine.models.answers import Choice, Json, Number, Text
from engine.models.policy import Turn
from engine.models.protocol import Message
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

PRIME = 1_000_003
FAULTY = 12
"""One reply in so many holds no answer."""


class Offer(msgspec.Struct, frozen=True):
    price: int
    note: str


FORMS: dict[str, Any] = {
    "number": Number(0, 999),
    "choice": Choice(("left", "right", "none of both")),
    "text": Text(max_chars=200),
    "json": Json(Offer),
    "list": List(Number(0, 99), 1, 3),
}


class ImproviseSettings(ScenarioSettings, frozen=True, kw_only=True, tag="improvise"):
    plan: int = 0
    stateful: bool = False
    """Whether an agent's answers depend on how many it has given."""
    most: int = 4
    """Acts in a step."""
    asking: float = 0.0
    """Share of the acts that are questions in any case."""
    circles: bool = False
    """Whether agents may wait for each other, or for themselves."""
    raising: float = 0.02
    """Share of the steps that raise."""
    log: str = ""
    """The file in which the policy keeps what it is asked."""
    pace_s: float = 0.0
    """How long the policy thinks."""
    fatal: int = -1
    """The agent whose step in round 2 brings its worker down, by a segmentation fault."""
    style: str = ""
    """Part of each prompt."""


class CoupledSettings(ImproviseSettings, frozen=True, kw_only=True, tag="improvise_coupled"):
    pass


def number_of(*parts: object) -> int:
    """Return a number that depends on nothing but the parts."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=6).digest(), "big")


def reply_to(form: str, text: str) -> str:
    """Return what the model says to a prompt."""
    n = number_of(form, text)
    if n % FAULTY == 0:
        return f"I have no idea {n}." * (1 + n % 3)
    match form:
        case "number":
            return str(n % 1000)
        case "choice":
            return FORMS["choice"].options[n % 3]
        case "text":
            return f"Well, {n}."
        case "json":
            return json.dumps({"price": n % 500, "note": f"n{n}"})
        case _:
            return json.dumps([n % 100, n % 7])


def form_of(answer: Any) -> str:
    """Return the name of a form as it arrives at a model."""
    match answer:
        case Number():
            return "number"
        case Choice():
            return "choice"
        case Text():
            return "text"
        case _:
            return "json" if "$ref" in answer.schema else "list"


class Improviser(Agent):
    class State(msgspec.Struct):
        heard: int = 0
        n_asked: int = 0

    state: State

    async def step(self, observation: float) -> float:
        settings = self.world.scenario.settings
        dice = Random(f"{settings.plan} {self.id} {self.round}")
        total = int(observation) + self.state.heard
        for _ in range(dice.randrange(settings.most + 1)):
            total = (total * 31 + await self.act(dice, total)) % PRIME
        if dice.random() < settings.raising:
            raise LookupError(f"the dice of {self.id} say so")
        if self.id == settings.fatal and self.round == 2:
            import ctypes

            ctypes.string_at(0)
        self.state.heard = total % 997
        return float(total)

    async def act(self, dice: Random, total: int) -> int:
        kinds = ["chat", "chat", "chat", "tell", "tell", "cry", "ask", "gather", "pause", "luck"]
        kinds += ["spawn", "retire"] if self.world.community else []
        kinds += ["deal", "deal", "bid"] if self.environments else []
        kind = "ask" if dice.random() < self.world.scenario.settings.asking else dice.choice(kinds)
        match kind:
            case "chat":
                return await self.chat(dice, total)
            case "tell":
                for _ in range(dice.randrange(3)):
                    self.tell(dice.choice(self.within_reach()), ["tell", total])
            case "cry":
                self.cry(dice, total)
            case "ask":
                return await self.question(dice, total)
            case "gather":
                return await self.several(dice, total)
            case "deal":
                return await self.deal(dice, total)
            case "bid":
                stall = self.environments[dice.choice(list(self.environments))]
                dice.choice([stall.bid, stall.bid, stall.sign_up])(total)
            case "spawn":
                return self.beget(dice, total)
            case "retire":
                if dice.random() < 0.3:
                    self.retire(dice.choice([self.id, *self.children]))
            case "pause":
                await asyncio.sleep(0)
            case _:
                return int(self.rng.integers(1000))
        return 1

    def beget(self, dice: Random, total: int) -> int:
        try:
            self.spawn(dice.choice(["", "", "Ann", "Bob"]), persona=f"One of {total}.", luck=total % 100)
        except NoRoom as error:
            return len(str(error))
        return len(self.children) + len(self.named) + int(self.attributes.get("luck", 0))

    def cry(self, dice: Random, total: int) -> None:
        """Tell many at once, or choose what to hear."""
        topic = dice.choice(["gold", "grain", "rumours"])
        match dice.choice(["all", "some", "publish", "publish", "subscribe", "subscribe", "unsubscribe"]):
            case "all":
                self.broadcast(["tell", total])
            case "some":
                reach = self.within_reach()
                self.broadcast(["tell", total], [dice.choice(reach) for _ in range(dice.randrange(5))])
            case "publish":
                self.publish(topic, ["tell", total])
            case "subscribe":
                self.subscribe(topic)
            case _:
                self.unsubscribe(topic)

    async def chat(self, dice: Random, total: int) -> int:
        remembers, catches = dice.random() < 0.3, dice.random() < 0.5
        call = self.call(dice, total)
        try:
            answer = await call
        except AnswerFailed as error:
            if catches:
                return len(str(error))
            raise
        if remembers:
            self.memory.remember(call.prompt, str(answer))
        return number_of(answer) % PRIME

    def call(self, dice: Random, total: int) -> Any:
        form = dice.choice(list(FORMS))
        return self.request(form, self.memory.with_user(f"{self.id}, {form}: {self.style}{total}"))

    @property
    def style(self) -> str:
        return str(self.world.scenario.settings.style)

    def request(self, form: str, prompt: Prompt) -> Any:
        facts = [form, prompt.tail[-1].content]
        return self.model.chat(prompt, FORMS[form], facts=facts)

    async def deal(self, dice: Random, total: int) -> int:
        catches = dice.random() < 0.7
        try:
            return int(await self.dealing(dice, total) or 0)
        except CallFailed as error:
            if catches:
                return len(str(error))
            raise

    def dealing(self, dice: Random, total: int) -> Any:
        stall = self.environments[dice.choice(list(self.environments))]
        stateful = self.world.scenario.settings.stateful
        return (
            stall.subscribe("deal", "is_odd")
            if stateful and dice.random() < 0.1
            else stall.deal(total, [total])
        )

    async def several(self, dice: Random, total: int) -> int:
        kinds = [self.call, self.asking, *([self.dealing] if self.environments else [])]
        parts = [dice.choice(kinds)(dice, total + n) for n in range(dice.randrange(4))]
        try:
            return number_of(await gather(*(part for part in parts if part is not None))) % PRIME
        except (AnswerFailed, AskFailed, CallFailed) as error:
            return len(str(error))

    async def question(self, dice: Random, total: int) -> int:
        catches, ask = dice.random() < 0.7, self.asking(dice, total)
        try:
            return 0 if ask is None else await ask
        except AskFailed as error:
            if catches:
                return len(str(error))
            raise

    def asking(self, dice: Random, total: int) -> Any:
        """Ask a later agent: in a circle all wait until they are told that no answer will come."""
        first = 0 if self.world.scenario.settings.circles else self.id + 1
        later = [other for other in self.within_reach() if other >= first]
        crowd = dice.random() < 0.5
        return self.ask(later[-1] if crowd else dice.choice(later), ["ask", total]) if later else None

    def within_reach(self) -> list[int]:
        world, community = self.world, self.world.community
        known = [*(range(world.scenario.n_agents) if world.scenario.coupled else world.members)]
        if community is None:
            return known
        return [agent for agent in known + sorted(community.births) if not community.absence(agent)]

    async def receive(self, message: Any, sender: int) -> int:
        if not isinstance(message, list):  # an environment tells in the order of what happens there
            self.heard += number_of(message) % PRIME
            return 0
        kind, number = message
        dice = Random(f"{self.world.scenario.settings.plan} {self.id} {self.round} {message} {sender}")
        if kind == "tell":
            self.state.heard = (self.state.heard * 7 + number + sender) % PRIME
            if dice.random() < 0.2:
                self.state.heard += await self.chat(dice, self.state.heard)
            return 0
        return await self.answer(dice, number + sender)

    async def answer(self, dice: Random, number: int) -> int:
        if self.world.scenario.settings.stateful:
            self.state.n_asked += 1
            number += self.state.n_asked
            for _ in range(dice.randrange(2)):
                self.tell(dice.choice(self.within_reach()), ["tell", number])
                self.cry(dice, number)
        kind = dice.choice(["now", "chat", "ask", "both", "raise" if dice.random() < 0.2 else "now"])
        if kind == "raise":
            raise ValueError(f"not to {number}")
        if kind in ("ask", "both"):
            number += await self.question(dice, number)
        if kind in ("chat", "both"):
            prompt = Prompt(self.world.shared, (Message("user", f"{self.id} is asked {self.style}{number}"),))
            try:
                number += int(await self.request("number", prompt))
            except AnswerFailed:
                number += 5
        return number * 17 % PRIME


class Stall(Environment):
    """Deals with all who come."""

    def setup(self) -> None:
        self.sum = 0
        self.bids: list[int] = []
        self.members_told: dict[int, int] = {}

    @event
    def deal(self, n: int, parts: list[int]) -> int | None:
        """In a stateful run what one gets depends on who came before."""
        if n % 11 == 0:
            raise ValueError(f"no deal for {n}")
        self.sum += n + len(parts)
        return self.sum if self.settings.stateful else (n * 3 if n % 5 else None)

    @buffered
    def bid(self, n: int) -> None:
        if n % 13 == 0:
            raise ValueError(f"no bid of {n}")
        self.bids.append(self.caller * n)

    @buffered
    def sign_up(self, n: int) -> None:
        self.subscribe("deal", "is_odd" if n % 2 else None)

    def is_odd(self, happened: Event) -> bool:
        if happened.arguments["n"] % 17 == 0:
            raise ValueError("a listener that fails")
        return bool(happened.arguments["n"] % 2)

    def end_round(self) -> dict[str, Any]:
        self.sum += int(self.rng.integers(100))
        return {f"{self.name} sum": self.sum, f"{self.name} bids": number_of(self.bids)}


class NestedStall(Stall):
    parent = "square"

    def end_round(self) -> dict[str, Any]:
        self.call_parent("bid", self.sum)
        return super().end_round()

    def aggregate(self) -> list[int]:
        return [self.sum, *self.bids[-3:]]


class Square(Stall):
    scope = "world"

    def collect(self, children: Mapping[int, Any]) -> None:
        self.sum += sum(values[0] * (group + 1) for group, values in children.items())


class Improvise(Scenario):
    Settings = ImproviseSettings
    Observation = float
    dynamic = True
    environments = {"stall": Stall}
    settings: ImproviseSettings

    def agent(self, agent_id: int) -> Agent:
        return Improviser(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        return (Message("system", f"Group {group}."),)

    def opening(self, group: int) -> float:
        return float(group)

    def accept(self, value: Any) -> str | None:
        return None if isinstance(value, float) else "a value has to be a number"

    def tally(self, members: range, values: Sequence[Any]) -> list[float | None]:
        return list(values)

    def conclude(self, round_: int, group: int, tallies: Sequence[Any]) -> Outcome:
        values = list(chain.from_iterable(tallies))
        total = sum(value for value in values if value is not None) % PRIME
        return Outcome({"sum": total, "values": json.dumps(values)}, total)


def echo(turn: Turn) -> str:
    """Reply as `reply_to` does; keep a number that belongs to the call's key."""
    settings: ImproviseSettings = turn.settings
    time.sleep(settings.pace_s)
    if settings.log:
        log = os.open(settings.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, b"%d\n" % turn.rng.getrandbits(63))
        os.close(log)
    form, text = turn.facts
    return reply_to(form, text)


Improvise.policies = {"echo": echo}


class ImproviseCoupled(Improvise):
    """With groups that exchange messages."""

    Settings = CoupledSettings
    coupled = True
    environments = {"stall": NestedStall, "square": Square}


SCENARIOS = {
    "improvise": "tests.fakes.improvise:Improvise",
    "improvise_coupled": "tests.fakes.improvise:ImproviseCoupled",
}
"""Where they are to be found by other processes."""

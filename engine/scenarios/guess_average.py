"""Guess a share of the average: the game of Nagel (AER 1995), played by a million in arXiv 2407.17789."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engine.agents.agent import Agent, Stateless
from engine.models.answers import Number, Text
from engine.models.protocol import Message
from engine.scenarios import columns
from engine.scenarios import guess_average_rules as rules
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

MAX_NAMED_WINNERS = 5

Bound = Annotated[float, Meta(ge=-1_000_000_000, le=1_000_000_000)]
"""Up to here a double holds every admissible number exactly, with room for a sum over a million."""


class GuessAverageSettings(ScenarioSettings, frozen=True, kw_only=True, tag="guess_average"):
    """Everyone names a number; the target is offset + ratio x the average; the closest wins."""

    ratio: Annotated[float, Meta(ge=0, le=1000)] | str = "2/3"
    """Share of the average that makes the target: a number or a fraction such as "2/3"."""
    offset: Bound = 0.0
    """Added to the target; the study's shifted game is offset 5, ratio "1/2" (equilibrium 10)."""
    low: Bound = 0.0
    """Smallest number allowed."""
    high: Bound = 100.0
    """Largest number allowed."""
    decimals: Annotated[int, Meta(ge=0, le=6)] = 0
    """Digits after the point in an answer."""
    prompt: Literal["direct", "think", "rational", "strategic"] = "direct"
    """How the question is put: answer at once; think first; told that all are rational; told that the others
    try to guess each other's strategy too."""
    calls: Literal[1, 2] = 1
    """Calls a turn: one constrained answer, or the study's two (a free reply, then the number out of it)."""
    announce: Literal["target", "average", "winners", "nothing"] = "target"
    """What players are told after each round: the target and the average, the average alone, the winning
    numbers, or nothing."""
    player_numbers: bool = True
    """Tell each player its number; without, all first prompts are the same text."""
    reasoning_tokens: Annotated[int, Meta(ge=0)] = 200
    """Room for free reasoning before the number, in prompts that ask to think."""

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add what only this game forbids."""
        found = ScenarioSettings.problems(self, population_size)
        if rules.fraction(self.ratio) is None:
            found.append(("ratio", repr(self.ratio), 'a number from 0 or a fraction such as "2/3"'))
        if self.low >= self.high:
            found.append(("low", f"{self.low:.15g}", f"a number below high ({self.high:.15g})"))
        elif not Number(self.low, self.high, self.decimals).grid:
            bounds = f"{self.low:.15g} and {self.high:.15g}"
            found.append(("decimals", f"{self.decimals}", f"enough digits for a number between {bounds}"))
        return found


class RoundStart(msgspec.Struct, frozen=True):
    """What players see at the start of a round. `text` and, if it was announced, `average` are of the round
    before."""

    round: int
    text: str = ""
    average: float | None = None


class Player(Agent):
    """Asks the model for a number, with the whole conversation so far."""

    __slots__ = ()
    State = Stateless

    async def step(self, observation: RoundStart) -> float:
        """Name a number."""
        game: GuessAverage = self.world.scenario
        opening = (
            game.introduction(self.id - self.world.members.start, self.persona)
            if observation.round == 1
            else ""
        )
        prompt = self.memory.with_user(opening + game.question(observation))
        if game.settings.calls == 2:
            reply = await self.model.chat(prompt, game.free_reply, facts=observation)
            self.memory.remember(prompt, reply)
            prompt = self.memory.with_user(game.extraction)
        guess: float = await self.model.chat(prompt, game.answer, facts=observation)
        self.memory.remember(prompt, game.write(guess))
        return guess


class GuessAverage(Scenario):
    """The game."""

    Settings = GuessAverageSettings
    Observation = RoundStart
    policies = rules.POLICIES
    policy_parameters = rules.POLICY_PARAMETERS
    settings: GuessAverageSettings

    def __init__(self, settings: GuessAverageSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.ratio = rules.fraction(settings.ratio) or 0.0
        thinks = settings.prompt != "direct" and settings.calls == 1
        self.answer = Number(
            settings.low, settings.high, settings.decimals, settings.reasoning_tokens if thinks else 0
        )
        self.free_reply = Text(max_chars=20_000)
        self.extraction = "Now state the number that you chose, and nothing else."

    def agent(self, agent_id: int) -> Agent:
        """Make a player."""
        return Player(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules of the game."""
        return (Message("system", rules.instructions(self.settings, self.group_size(group))),)

    def opening(self, group: int) -> RoundStart:
        """Return the first round's observation."""
        return RoundStart(1)

    def introduction(self, place: int, persona: str) -> str:
        """Return what a player is told about itself at first; `place` is its place in its group, from 0.

        Ends with a space unless empty.
        """
        number = f"You are player {place + 1}. " if self.settings.player_numbers else ""
        return f"{number}{persona} " if persona else number

    def question(self, observation: RoundStart) -> str:
        """Return what a player is asked."""
        where = f"Round {observation.round} of {self.settings.rounds}"
        return f"{observation.text}{where}: which number do you choose?"

    def write(self, number: float) -> str:
        """Write a number the way players do."""
        return f"{number:.{self.settings.decimals}f}"

    def accept(self, value: Any) -> str | None:
        """A guess is a number within the range."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return "a guess has to be a number"
        if not self.settings.low <= value <= self.settings.high:
            return f"a guess has to be from {self.settings.low:.15g} to {self.settings.high:.15g}"
        return None

    def tally(self, members: range, values: Sequence[float | None]) -> tuple[int, bytes]:
        """Pack the guesses as a column of float64, NaN where there is none."""
        return members.start, columns.pack(values)

    def conclude(self, round_: int, group: int, tallies: Sequence[tuple[int, bytes]]) -> Outcome:
        """Find the target and who came closest."""
        guesses = columns.joined([packed for _, packed in tallies])
        if np.isnan(guesses).all():
            return Outcome({"mean": None}, RoundStart(round_ + 1, "Nobody named a number. "))
        target = self._target(guesses)
        distance = np.abs(guesses - target)
        winners = np.flatnonzero(distance == np.nanmin(distance))
        winning = sorted(set(guesses[winners].tolist()))
        first = tallies[0][0]
        named = ", ".join(str(first + w) for w in winners[:MAX_NAMED_WINNERS].tolist())
        stats = rules.describe(guesses, self.settings.decimals) | {
            "target": target,
            "winning number": " and ".join(map(self.write, winning)),
            "winners": len(winners),
            "winning agents": named + (", ..." if len(winners) > MAX_NAMED_WINNERS else ""),
        }
        average = float(np.nanmean(guesses))
        text = rules.announcement(self.settings, round_, average, target, [self.write(w) for w in winning])
        told = average if self.settings.announce in ("target", "average") else None
        return self._outcome(stats, guesses, RoundStart(round_ + 1, text, told))

    def overall(self, round_: int, tallies: Sequence[tuple[int, bytes]]) -> Outcome:
        """Describe all guesses; each group has a target of its own, which the journal holds."""
        guesses = columns.joined([packed for _, packed in tallies])
        return self._outcome(rules.describe(guesses, self.settings.decimals), guesses, None)

    def _target(self, guesses: NDArray[np.float64]) -> float:
        return self.settings.offset + self.ratio * float(np.nanmean(guesses))

    def _outcome(self, stats: dict[str, Any], guesses: NDArray[np.float64], observation: Any) -> Outcome:
        low, high = self.settings.low, self.settings.high
        return Outcome(stats, observation, columns.histogram(guesses, low, high), low, high)

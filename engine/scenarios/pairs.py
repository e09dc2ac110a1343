"""Games of two: the first of each pair chooses an amount, the second may react to it in the same round.

Agents 0 and 1 are a pair, 2 and 3, and so on, for the whole run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from engine.agents.agent import Agent
from engine.agents.effects import AnswerFailed
from engine.agents.post import AskFailed
from engine.agents.replies import Asked
from engine.models.answers import Number
from engine.models.protocol import Message
from engine.scenarios import columns
from engine.scenarios.participant import Participant
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

Amount = Annotated[int, Meta(ge=1, le=1_000_000)]
Move = tuple[float, float | None]
"""What the first chose, and how the second reacted; None if that is not known."""
UNKNOWN: Move = (float("nan"), None)


class PairSettings(ScenarioSettings, frozen=True, kw_only=True):
    """What all games of two have."""

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add that nobody may be without a partner."""
        found = ScenarioSettings.problems(self, population_size)
        if population_size % (2 * self.groups):
            what = f"{population_size} agents in {self.groups} groups"
            found.append(("groups", what, "groups of the same, even size, as two play together"))
        return found


class Facts(msgspec.Struct, frozen=True):
    """What a policy decides on: the amount that the first chose; None if it is the first who decides."""

    amount: float | None


class First(Participant):
    """Chooses an amount and learns how the second reacts."""

    __slots__ = ("last",)

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.last: Move | None = None

    async def step(self, observation: Any) -> Move:
        """Choose."""
        game: PairGame = self.world.scenario
        last, self.last = self.last, None
        amount = await self.decide(game.first_question(self.round, last), game.amount, Facts(None))
        self.last = (amount, await self._reaction(amount))
        return self.last

    async def _reaction(self, amount: float) -> float | None:
        if self.world.scenario.reaction(amount) is None:
            return None
        try:
            reaction: float | None = await self.ask(self.id + 1, amount)
        except AskFailed:
            return None
        return reaction


class Second(Participant):
    """Reacts."""

    __slots__ = ()

    async def step(self, observation: Any) -> None:
        """Nothing to do before the first has chosen."""

    async def receive(self, message: float, sender: int) -> float | None:
        """React to an amount; None if the model gave no answer."""
        game: PairGame = self.world.scenario
        answer = game.reaction(message)
        if answer is None:
            return None
        try:
            return game.value(
                await self.decide(game.second_question(self.round, message), answer, Facts(message))
            )
        except AnswerFailed:
            return None


class PairGame(Scenario):
    """A game of two; subclasses say what is asked and what it earns."""

    amount: Number
    """What the first may choose."""

    def rules(self) -> str:
        """Return the rules as both read them."""
        raise NotImplementedError

    def first_question(self, round_: int, last: Move | None) -> str:
        """Return what the first is asked; `last` is what happened in the round before, if it is known."""
        raise NotImplementedError

    def reaction(self, amount: float) -> Asked | None:
        """Return the form of the second's answer to an amount; None if the second has no choice."""
        return None

    def second_question(self, round_: int, amount: float) -> str:
        """Return what the second is asked."""
        raise NotImplementedError

    def value(self, answer: Any) -> float:
        """Return the second's answer as a number."""
        return float(answer)

    def stats(self, amounts: columns.Numbers, reactions: columns.Numbers) -> dict[str, Any]:
        """Return the columns of the rounds table."""
        raise NotImplementedError

    def agent(self, agent_id: int) -> Agent:
        """Make a first or a second one."""
        return Second(agent_id) if agent_id % 2 else First(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules."""
        return (Message("system", self.rules()),)

    def opening(self, group: int) -> None:
        """Nothing is announced: each pair knows what it did."""

    def tally(self, members: range, values: Sequence[Move | None]) -> bytes:
        """Pack what the first of each pair returned."""
        firsts = values[members.start % 2 :: 2]
        return columns.pack_rows([UNKNOWN if move is None else move for move in firsts], 2)

    def conclude(self, round_: int, group: int, tallies: Sequence[bytes]) -> Outcome:
        """Describe all pairs."""
        rows = columns.joined_rows(tallies, 2)
        amounts, reactions = rows[:, 0], rows[:, 1]
        low, high = self.amount.low, self.amount.high
        return Outcome(self.stats(amounts, reactions), None, columns.histogram(amounts, low, high), low, high)


def question(round_: int, rounds: int, last: str, ask: str) -> str:
    """Return a question; it tells the round if there are several, and what happened in the last one."""
    return f"{last}{f'Round {round_} of {rounds}. ' if rounds > 1 else ''}{ask}"

"""A seller and a buyer take turns to name a price, until one accepts or time is over.

Rubinstein, Econometrica 50 (1982); Faratin, Sierra and Jennings, Robotics and Autonomous Systems 24 (1998).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engine.agents.agent import Agent
from engine.models.answers import Choice, Number, Text
from engine.models.protocol import Message
from engine.scenarios import negotiation_rules as rules
from engine.scenarios.negotiation_table import Table
from engine.scenarios.participant import Participant
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

Price = Annotated[float, Meta(ge=0, le=1_000_000)]
Discount = Annotated[float, Meta(gt=0, le=1)]


class NegotiationSettings(ScenarioSettings, frozen=True, kw_only=True, tag="negotiation"):
    """Each group is a pair, first the seller, then the buyer; each round is a turn of one of them."""

    same_for_all: ClassVar[frozenset[str]] = ScenarioSettings.same_for_all | {
        *("cost", "decimals", "first", "high", "low", "value"),
    }

    item: Annotated[str, Meta(min_length=1, max_length=200)] = "a used bicycle"
    """What is for sale."""
    cost: Price = 40.0
    """What it is worth to the seller, who alone knows that."""
    value: Price = 100.0
    """What it is worth to the buyer, who alone knows that."""
    low: Price = 0.0
    """Lowest price that may be named."""
    high: Price = 150.0
    """Highest price that may be named."""
    decimals: Annotated[int, Meta(ge=0, le=6)] = 0
    """Digits after the point in prices."""
    first: Literal["seller", "buyer"] = "seller"
    """Who names the first price."""
    seller_discount: Discount = 1.0
    """What a gain is worth to the seller a turn later, as a share of it."""
    buyer_discount: Discount = 1.0
    """That of the buyer."""
    messages: bool = True
    """Whether a sentence comes with each price."""

    @property
    def offers(self) -> int:
        """How many prices can be named in time for an answer; in the last turn there is only an answer."""
        return self.rounds - 1

    def worth(self, role: str) -> float:
        """Return the price at which one side gains nothing."""
        return self.cost if role == rules.SELLER else self.value

    def discount(self, role: str) -> float:
        """Return what a gain is worth to one side a turn later."""
        return self.seller_discount if role == rules.SELLER else self.buyer_discount

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add what makes no pairs, or leaves nothing to negotiate."""
        found = ScenarioSettings.problems(self, population_size)
        if population_size != 2 * self.groups:
            what = f"{self.groups} groups for {population_size} agents"
            found.append(("groups", what, "as many groups as pairs: half the size of the population"))
        if self.rounds < 2:
            found.append(("rounds", f"{self.rounds}", "2 or more: one to name a price, one to answer"))
        if not self.low <= self.cost < self.value <= self.high:
            order = f"low ({self.low:g}) <= cost < value ({self.value:g}) <= high ({self.high:g})"
            found.append(("cost", f"{self.cost:g}", order))
        return found


class Negotiator(Participant):
    """Accepts the other's price, or names one."""

    __slots__ = ()

    async def step(self, observation: Any) -> float:
        """Return the price that it accepts or names."""
        game: Negotiation = self.world.scenario
        table = self.environments["table"]
        seen = await table.view()
        role = rules.BUYER if self.id % 2 else rules.SELLER
        told = "" if self.memory.turns else rules.who(game.settings, role)
        facts = {"role": role, "offer": self.round, "price": seen["price"]}
        if seen["by"] == rules.other(role):
            told += rules.news(role, seen["price"], seen["message"])
            ask = f'{told}Do you accept? Reply with "{rules.ACCEPT}" or "{rules.REFUSE}".'
            if await self.decide(ask, game.answer, {**facts, "stage": rules.ANSWER}) == rules.ACCEPT:
                return float(await table.accept())
            told = ""
        if self.round > game.settings.offers:
            return float("nan")
        return await self._offer(game, told, facts)

    async def _offer(self, game: Negotiation, told: str, facts: dict[str, Any]) -> float:
        left = game.settings.rounds - self.round
        ask = (
            f"{told}Turns left after this one: {left}. Which price do you name? Reply with the number alone."
        )
        price: float = await self.decide(ask, game.price, {**facts, "stage": rules.OFFER})
        message = ""
        if game.settings.messages:
            ask = f"Add one short sentence for the {rules.other(facts['role'])}, to win them over."
            message = await self.decide(ask, game.sentence, {**facts, "stage": rules.SAY, "price": price})
        await self.environments["table"].propose(price, message)
        return price


class Negotiation(Scenario):
    """The pairs."""

    Settings = NegotiationSettings
    Observation = bool
    environments = {"table": Table}
    policies = rules.POLICIES
    policy_parameters = rules.POLICY_PARAMETERS
    settings: NegotiationSettings

    def __init__(self, settings: NegotiationSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.price = Number(settings.low, settings.high, settings.decimals)
        self.answer = Choice((rules.ACCEPT, rules.REFUSE))
        self.sentence = Text(max_chars=200)

    def agent(self, agent_id: int) -> Agent:
        """Make a seller or a buyer."""
        return Negotiator(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules."""
        return (Message("system", rules.instructions(self.settings)),)

    def opening(self, group: int) -> bool:
        """Return whether they have agreed."""
        return False

    def acts(self, round_: int, members: range, agreed: bool) -> NDArray[np.bool_]:
        """It is the turn of one of them, until they agree."""
        role = rules.mover(self.settings, round_)
        return np.array(
            [not agreed and (m % 2 == 1) == (role == rules.BUYER) for m in members], dtype=np.bool_
        )

    def tally(self, members: range, values: Sequence[float | None]) -> None:
        """The table knows."""

    def conclude(self, round_: int, group: int, tallies: Sequence[None]) -> Outcome:
        """The table says what came of it."""
        return Outcome({})

    def settle(self, outcome: Outcome, reports: Mapping[str, Any]) -> Outcome:
        """Let those who have agreed rest."""
        found = super().settle(outcome, reports)
        return msgspec.structs.replace(found, observation=bool(found.stats["agreed"]))

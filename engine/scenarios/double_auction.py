"""The continuous double auction: buyers and sellers with given values and costs, and a book of their orders.

Smith, Journal of Political Economy 70 (1962); Gode and Sunder, Journal of Political Economy 101 (1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engine.agents.agent import Agent, Stateless
from engine.agents.memory import Prompt, said
from engine.draws import mix, uniforms
from engine.models.answers import Number
from engine.models.protocol import Message
from engine.scenarios import double_auction_rules as rules
from engine.scenarios.double_auction_market import Hand, Market
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

MAX_UNITS = 1_000_000
"""In a market: they are dealt anew each day."""

Price = Annotated[float, Meta(ge=0, le=1_000_000)]


class DoubleAuctionSettings(ScenarioSettings, frozen=True, kw_only=True, tag="double_auction"):
    """Buyers and sellers take turns in a group: the first is a buyer, the second a seller, and so on."""

    same_for_all: ClassVar[frozenset[str]] = ScenarioSettings.same_for_all | {
        *("activity", "clear", "day", "decimals", "demand", "high", "improve", "low", "supply", "units"),
    }

    low: Price = 1.0
    """Lowest price."""
    high: Price = 200.0
    """Highest price."""
    decimals: Annotated[int, Meta(ge=0, le=4)] = 0
    """Digits after the point in prices, values and costs."""
    units: Annotated[int, Meta(ge=1, le=1000)] = 3
    """How many units each buyer may buy, and each seller sell, in a day."""
    demand: tuple[Price, ...] = ()
    """What units are worth to the buyers: dealt to them in turn from the highest on, from the beginning again
    if there are too few. If empty, evenly from `low` to `high`."""
    supply: tuple[Price, ...] = ()
    """What units cost the sellers: dealt likewise from the lowest on. If empty, evenly too."""
    day: Annotated[int, Meta(ge=0)] = 0
    """Rounds in a day of trading; at its end the book is emptied, and all have their units again. 0: the run
    is one day."""
    activity: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """Probability with which each trader makes an order in a round. The orders of a round reach the book one
    after the other, in an order drawn by lot."""
    improve: bool = True
    """An order counts only if it is better than the best of its side."""
    clear: bool = True
    """After each trade the book is empty, as in Gode and Sunder; otherwise the other orders stay in it."""
    window: Annotated[int, Meta(ge=0, le=100)] = 5
    """How many of the last prices traders see."""

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add that a market has two sides, and room for prices."""
        found = ScenarioSettings.problems(self, population_size)
        if population_size < 2 * self.groups:
            allowed = f"at most {population_size // 2}, so that each has a buyer and a seller"
            found.append(("groups", f"{self.groups} groups for {population_size} agents", allowed))
        if (total := (population_size // self.groups + 1) * self.units) > MAX_UNITS:
            found.append(("units", f"about {total} in a group", f"{MAX_UNITS} in a group"))
        if self.high <= self.low:
            found.append(("high", f"{self.high:g}", f"more than low ({self.low:g})"))
        return found


class Trader(Agent):
    """Looks at the market and makes an order for its next unit."""

    __slots__ = ()
    State = Stateless

    async def step(self, observation: None) -> float | None:
        """Return the price that it names; None if it has traded all its units."""
        game, market = self.world.scenario, self.environments["market"]
        seen = await market.view()
        hand, bid, ask = msgspec.convert(seen["hand"], Hand), seen["bid"], seen["ask"]
        if hand.worth is None:
            return None
        side = rules.side_of(self.id - self.world.members.start)
        text = f"{self.persona} {rules.question(side, hand.worth, bid, ask, seen['prices'])}".lstrip()
        facts = {"side": side, "worth": hand.worth, "bid": bid, "ask": ask}
        prompt = Prompt(self.world.shared, (said("user", text),))
        price: float = await self.model.chat(prompt, game.price, facts=facts)
        market.order(price, hand.traded)
        return price


class DoubleAuction(Scenario):
    """The market."""

    Settings = DoubleAuctionSettings
    environments = {"market": Market}
    policies = rules.POLICIES
    settings: DoubleAuctionSettings

    def __init__(self, settings: DoubleAuctionSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.price = Number(settings.low, settings.high, settings.decimals)

    def agent(self, agent_id: int) -> Agent:
        """Make a trader."""
        return Trader(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules."""
        return (Message("system", rules.instructions(self.settings, self.group_size(group))),)

    def opening(self, group: int) -> None:
        """All that traders see, they see in the market."""

    def acts(self, round_: int, members: range, observation: None) -> NDArray[np.bool_] | None:
        """Draw who makes an order."""
        if self.settings.activity == 1:
            return None
        found: NDArray[np.bool_] = (
            uniforms(mix(self.seed, round_), np.array(members)) < self.settings.activity
        )
        return found

    def tally(self, members: range, values: Sequence[float | None]) -> int:
        """Count the orders."""
        return sum(value is not None for value in values)

    def conclude(self, round_: int, group: int, tallies: Sequence[int]) -> Outcome:
        """Say how many orders there were; the market tells the rest."""
        return Outcome({"orders": sum(tallies)})

"""The public goods game: contribute to what all share, and perhaps pay to punish those who do not.

Fehr and Gaechter, American Economic Review 90 (2000), and Nature 415 (2002), whose punishment is the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from engine.agents.agent import Agent
from engine.models.answer_list import List
from engine.models.answers import Number
from engine.models.protocol import Message
from engine.scenarios import columns
from engine.scenarios import public_goods_rules as rules
from engine.scenarios.participant import Participant
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

MAX_PUNISHING = 100
"""Members of a group with punishment: each is asked about each other one."""

Rate = Annotated[float, Meta(ge=0, le=1000)]


class PublicGoodsSettings(ScenarioSettings, frozen=True, kw_only=True, tag="public_goods"):
    """Members of a group share what tokens in a common project earn; each may keep its own instead."""

    endowment: Annotated[int, Meta(ge=1, le=1_000_000)] = 20
    """Tokens that every member gets in each period."""
    mpcr: Rate = 0.4
    """Marginal per capita return: what a token in the project earns each member."""
    punishment: bool = False
    """A second stage, in which members see what each contributed and may punish. A period then takes two
    rounds: the odd ones to contribute, the even ones to punish."""
    most_points: Annotated[int, Meta(ge=1, le=1000)] = 10
    """Most deduction points that a member may give to another one."""
    cost: Rate = 1.0
    """Tokens that giving a point costs."""
    effect: Rate = 3.0
    """Tokens that getting a point costs."""

    @property
    def periods(self) -> int:
        """Number of periods."""
        return self.rounds // 2 if self.punishment else self.rounds

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add what only this game forbids."""
        found = ScenarioSettings.problems(self, population_size)
        smallest, rest = divmod(population_size, self.groups)
        if smallest < 2:
            allowed = f"at most {population_size // 2}, so that groups have two members or more"
            found.append(("groups", f"{self.groups} groups for {population_size} agents", allowed))
        if self.punishment and self.rounds % 2:
            found.append(("rounds", f"{self.rounds}", "an even number: with punishment, a period takes two"))
        if self.punishment and smallest + (rest > 0) > MAX_PUNISHING:
            what = f"groups of {smallest + (rest > 0)} that punish"
            found.append(("groups", what, f"so many groups that none has more than {MAX_PUNISHING} members"))
        return found


class Stage(msgspec.Struct, frozen=True):
    """What the members of a group see at the start of a round."""

    period: int
    punishing: bool = False
    total: float | None = None
    """What all contributed in the last first stage; None before the first."""
    contributions: tuple[float | None, ...] = ()
    """Of each member, when they may punish."""
    received: tuple[float, ...] = ()
    """Points that each member got in the last period."""


class Member(Participant):
    """Contributes, and punishes if the game has that."""

    __slots__ = ("given", "own")

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.own: float | None = None
        """What it contributed last."""
        self.given = 0.0
        """Points that it gave last."""

    async def step(self, seen: Stage) -> tuple[float | None, ...]:
        """Return the contribution, and in the second stage the points for each member after it."""
        return await (self._punish(seen) if seen.punishing else self._contribute(seen))

    async def _contribute(self, seen: Stage) -> tuple[float | None, ...]:
        game: PublicGoods = self.world.scenario
        last, self.own = self.own, None
        others, received = None, self._received(seen)
        news = ""
        if seen.total is not None:
            others = (seen.total - (last or 0.0)) / (len(self.world.members) - 1)
            earned = game.earned(last, seen.total) - self.given * game.settings.cost
            earned -= (received or 0.0) * game.settings.effect
            news = rules.news(last, others, earned, received)
        question = rules.contribution_question(game.settings, seen.period, news)
        facts = {"own": last, "others": others, "points": received or 0.0}
        self.own = await self.decide(question, game.contribution, facts)
        self.given = 0.0
        return (self.own,)

    async def _punish(self, seen: Stage) -> tuple[float | None, ...]:
        game: PublicGoods = self.world.scenario
        me = self.id - self.world.members.start
        others = [(place, given) for place, given in enumerate(seen.contributions) if place != me]
        question = rules.punishment_question(self.own, others)
        facts = {"own": self.own, "others": [given for _, given in others]}
        points = await self.decide(question, game.points[len(others)], facts)
        self.given = sum(points)
        return (self.own, *points[:me], 0.0, *points[me:])

    def _received(self, seen: Stage) -> float | None:
        return seen.received[self.id - self.world.members.start] if seen.received else None


class PublicGoods(Scenario):
    """The game."""

    Settings = PublicGoodsSettings
    Observation = Stage
    policies = rules.POLICIES
    policy_parameters = rules.POLICY_PARAMETERS
    settings: PublicGoodsSettings

    def __init__(self, settings: PublicGoodsSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.contribution = Number(0, settings.endowment)
        sizes = {self.group_size(0), self.group_size(settings.groups - 1)} if settings.punishment else ()
        self.points = {n - 1: List(Number(0, settings.most_points), n - 1, n - 1) for n in sizes}
        """What is asked for in the second stage, by the number of others."""

    def agent(self, agent_id: int) -> Agent:
        """Make a member."""
        return Member(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules."""
        return (Message("system", rules.instructions(self.settings, self.group_size(group))),)

    def opening(self, group: int) -> Stage:
        """Return the first round's observation."""
        return Stage(1)

    def earned(self, own: float | None, total: float) -> float:
        """Return what the first stage has earned a member."""
        return self.settings.endowment - (own or 0.0) + self.settings.mpcr * total

    def tally(self, members: range, values: Sequence[Sequence[float | None] | None]) -> tuple[int, bytes]:
        """Pack the rows: the contribution alone, or with the points for each member."""
        width = max((len(value) for value in values if value is not None), default=1)
        return width, columns.pack_rows(values, width)

    def conclude(self, round_: int, group: int, tallies: Sequence[tuple[int, bytes]]) -> Outcome:
        """Count the tokens, or the points."""
        rows = _stacked(tallies)
        given, total = rows[:, 0], float(np.nansum(rows[:, 0]))
        period = round_ // 2 + 1 if self.settings.punishment else round_ + 1
        if not self.settings.punishment:
            return self._outcome(given, [0], None, Stage(period, False, total))
        if round_ % 2:
            listed = tuple(None if np.isnan(tokens) else tokens for tokens in given.tolist())
            return self._outcome(given, [0], None, Stage(period, True, total, listed))
        received = np.nan_to_num(rows[:, 1:]).sum(axis=0)
        following = Stage(period, False, total, received=tuple(received.tolist()))
        return self._outcome(given, [0], float(received.sum()), following)

    def overall(self, round_: int, tallies: Sequence[tuple[int, bytes]]) -> Outcome:
        """Describe all groups together."""
        parts = [columns.joined_rows([packed], width) for width, packed in tallies]
        given = np.concatenate([part[:, 0] for part in parts])
        points = float(sum(np.nansum(part[:, 1:]) for part in parts))
        sizes = map(self.group_size, range(self.settings.groups - 1))
        starts = list(accumulate(sizes, initial=0))
        punishing = self.settings.punishment and round_ % 2 == 0
        return self._outcome(given, starts, points if punishing else None, None)

    def _outcome(
        self, given: columns.Numbers, starts: Sequence[int], points: float | None, following: Stage | None
    ) -> Outcome:
        settings = self.settings
        contribution = columns.mean(given)
        payoff = columns.mean(rules.payoffs(given, starts, settings.endowment, settings.mpcr))
        stats: dict[str, Any] = {
            "contribution": contribution,
            "share": None if contribution is None else contribution / settings.endowment,
            "free riders": int((given == 0).sum()),
        }
        if points is not None and payoff is not None:
            stats["points"] = points / len(given)
            payoff -= stats["points"] * (settings.cost + settings.effect)
        stats["payoff"] = payoff
        histogram = columns.histogram(given, 0, settings.endowment)
        return Outcome(stats, following, histogram, 0, settings.endowment)


def _stacked(tallies: Sequence[tuple[int, bytes]]) -> columns.Numbers:
    """Return the rows of a group; a worker whose members all failed does not know how long they are."""
    parts = [columns.joined_rows([packed], width) for width, packed in tallies]
    width = max(part.shape[1] for part in parts)
    longer = [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=np.nan) for part in parts]
    return np.concatenate(longer)

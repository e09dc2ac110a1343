"""The ultimatum game: propose how to divide a pie; the other accepts, or neither gets anything.

Gueth, Schmittberger and Schwarze, Journal of Economic Behavior and Organization 3 (1982).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.models.answers import Choice, Number
from engine.models.policy import Rule, Turn
from engine.scenarios import columns, fehr_schmidt
from engine.scenarios.pairs import Amount, Move, PairGame, PairSettings, question

ACCEPT, REFUSE = "accept", "refuse"


class UltimatumSettings(PairSettings, frozen=True, kw_only=True, tag="ultimatum"):
    """The first of each pair proposes how to divide a pie; if the second refuses, neither gets anything."""

    pie: Amount = 10
    """Coins to be divided."""


class Ultimatum(PairGame):
    """The game."""

    Settings = UltimatumSettings
    settings: UltimatumSettings

    def __init__(self, settings: UltimatumSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.amount = Number(0, settings.pie)
        self._choice = Choice((ACCEPT, REFUSE))

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"Two players divide {self.settings.pie} coins. The first offers some of them to the second. If "
            f"the "
            "second accepts, both get their part; if the second refuses, neither gets anything. You want to "
            "get "
            "as many coins as you can."
        )

    def first_question(self, round_: int, last: Move | None) -> str:
        """Ask for an offer."""
        news = ""
        if last is not None and last[1] is not None:
            news = f"Your last offer, {last[0]:.15g} coins, was {'accepted' if last[1] else 'refused'}. "
        ask = (
            f"You are the first. How many of the {self.settings.pie} coins do you offer? Reply with the "
            f"number."
        )
        return question(round_, self.settings.rounds, news, ask)

    def reaction(self, amount: float) -> Choice:
        """The second accepts or refuses."""
        return self._choice

    def second_question(self, round_: int, amount: float) -> str:
        """Ask for a reaction."""
        rest = self.settings.pie - amount
        ask = (
            f"You are the second. The first offers you {amount:.15g} coins and would keep {rest:.15g}. Reply "
            f'with "{ACCEPT}" or "{REFUSE}".'
        )
        return question(round_, self.settings.rounds, "", ask)

    def value(self, answer: Any) -> float:
        """1 for accepted, 0 for refused."""
        return float(answer == ACCEPT)

    def stats(self, amounts: columns.Numbers, reactions: columns.Numbers) -> dict[str, Any]:
        """Offers and what became of them."""
        first, second = payoffs(amounts, reactions, self.settings.pie)
        return {
            "offer": columns.mean(amounts),
            "share": columns.mean(amounts / self.settings.pie),
            "accepted": columns.mean(reactions),
            "first gets": columns.mean(first),
            "second gets": columns.mean(second),
        }


def payoffs(
    offers: columns.Numbers, accepted: columns.Numbers, pie: float
) -> tuple[columns.Numbers, columns.Numbers]:
    """Return what first and second get."""
    return (pie - offers) * accepted, offers * accepted


def selfish(turn: Turn) -> str:
    """Offer the smallest coin and accept anything that is not nothing: the subgame-perfect equilibrium."""
    amount = turn.facts["amount"]
    return "1" if amount is None else _word(amount > 0)


def fair(turn: Turn) -> str:
    """Offer half; refuse less than 30 %."""
    pie, amount = turn.settings.pie, turn.facts["amount"]
    return str(pie // 2) if amount is None else _word(amount >= 0.3 * pie)


def inequity_averse(turn: Turn) -> str:
    """Play the types of Fehr and Schmidt (1999): the best offer to a responder of unknown type."""
    kind, pie, amount = fehr_schmidt.taste(turn.trait), turn.settings.pie, turn.facts["amount"]
    if amount is None:
        return str(fehr_schmidt.best_offer(kind, pie))
    return _word(fehr_schmidt.accepts(kind, amount, pie))


def chance(turn: Turn) -> str:
    """Offer any number of coins; accept every second offer."""
    if turn.facts["amount"] is None:
        return str(turn.rng.randint(0, turn.settings.pie))
    return _word(turn.rng.random() < 0.5)


def _word(accepted: bool) -> str:
    return ACCEPT if accepted else REFUSE


POLICIES: Mapping[str, Rule] = {
    "selfish": selfish,
    "fair": fair,
    "inequity_averse": inequity_averse,
    "random": chance,
}
Ultimatum.policies = POLICIES

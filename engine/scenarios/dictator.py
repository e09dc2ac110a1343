"""The dictator game: give some of a pie to somebody who has no say.

Forsythe, Horowitz, Savin and Sefton, Games and Economic Behavior 6 (1994).
"""

from __future__ import annotations

from typing import Any

from engine.models.answers import Number
from engine.models.policy import Turn
from engine.scenarios import columns, fehr_schmidt
from engine.scenarios.pairs import Amount, Move, PairGame, PairSettings, question


class DictatorSettings(PairSettings, frozen=True, kw_only=True, tag="dictator"):
    """The first of each pair gives some of a pie to the second, who has no say."""

    pie: Amount = 10
    """Coins to be divided."""


class Dictator(PairGame):
    """The game."""

    Settings = DictatorSettings
    settings: DictatorSettings

    def __init__(self, settings: DictatorSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.amount = Number(0, settings.pie)

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"There are two people who do not know each other. The first got {self.settings.pie} coins and "
            f"decides "
            "how many of them to give to the second, who got none. The second has no say in it."
        )

    def first_question(self, round_: int, last: Move | None) -> str:
        """Ask for a gift."""
        ask = (
            f"You are the first. How many of your {self.settings.pie} coins do you give to the second? "
            f"Reply with "
            "the number."
        )
        return question(round_, self.settings.rounds, "", ask)

    def stats(self, amounts: columns.Numbers, reactions: columns.Numbers) -> dict[str, Any]:
        """Gifts, and how many gave nothing or half."""
        shares = amounts / self.settings.pie
        return {
            "given": columns.mean(amounts),
            "share": columns.mean(shares),
            "gave nothing": columns.share(shares, 0),
            "gave half": columns.share(shares, 0.5),
        }


def selfish(turn: Turn) -> str:
    """Give nothing."""
    return "0"


def fair(turn: Turn) -> str:
    """Give half."""
    return str(turn.settings.pie // 2)


def inequity_averse(turn: Turn) -> str:
    """Play the types of Fehr and Schmidt (1999): 40 % give half, the others nothing."""
    return str(fehr_schmidt.best_gift(fehr_schmidt.taste(turn.trait), turn.settings.pie))


def chance(turn: Turn) -> str:
    """Give any number of coins."""
    return str(turn.rng.randint(0, turn.settings.pie))


Dictator.policies = {"selfish": selfish, "fair": fair, "inequity_averse": inequity_averse, "random": chance}

"""The trust game: send money that multiplies on its way, and hope that some of it comes back.

Berg, Dickhaut and McCabe, Games and Economic Behavior 10 (1995).
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from engine.models.answers import Number
from engine.models.policy import Turn
from engine.scenarios import columns
from engine.scenarios.pairs import Amount, Move, PairGame, PairSettings, question


class TrustSettings(PairSettings, frozen=True, kw_only=True, tag="trust"):
    """The first of each pair sends coins, which multiply; the second decides how many to send back."""

    endowment: Amount = 10
    """Coins that both have at first."""
    multiplier: Annotated[int, Meta(ge=1, le=100)] = 3
    """What a coin becomes on its way to the second."""


class Trust(PairGame):
    """The game."""

    Settings = TrustSettings
    settings: TrustSettings

    def __init__(self, settings: TrustSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.amount = Number(0, settings.endowment)

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"Two players get {self.settings.endowment} coins each. The first sends some of them, or none, "
            f"to the "
            f"second; each coin sent becomes {self.settings.multiplier} on its way. The second then decides "
            f"how "
            "many of the coins that came to send back. You want to have as many coins as you can in the end."
        )

    def first_question(self, round_: int, last: Move | None) -> str:
        """Ask how much to send."""
        news = ""
        if last is not None and last[1] is not None:
            news = f"You sent {last[0]:.15g} coins last time, and {last[1]:.15g} came back. "
        ask = (
            f"You are the first. How many of your {self.settings.endowment} coins do you send? Reply with "
            f"the number."
        )
        return question(round_, self.settings.rounds, news, ask)

    def reaction(self, amount: float) -> Number | None:
        """The second sends back some of what came, if anything did."""
        return Number(0, amount * self.settings.multiplier) if amount > 0 else None

    def second_question(self, round_: int, amount: float) -> str:
        """Ask how much to send back."""
        came = amount * self.settings.multiplier
        ask = (
            f"You are the second. The first sent {amount:.15g} coins, and {came:.15g} came. How many of "
            f"them do you "
            "send back? Reply with the number."
        )
        return question(round_, self.settings.rounds, "", ask)

    def stats(self, amounts: columns.Numbers, reactions: columns.Numbers) -> dict[str, Any]:
        """What was sent, and what came back; of nothing, nothing comes back."""
        back = np.where(amounts == 0, 0.0, reactions)
        first, second = payoffs(amounts, back, self.settings.endowment, self.settings.multiplier)
        sent = columns.mean(amounts[~np.isnan(back)])
        returned = columns.mean(back)
        return {
            "sent": columns.mean(amounts),
            "share": columns.mean(amounts / self.settings.endowment),
            "returned": returned,
            "for each sent": returned / sent if returned is not None and sent else None,
            "first has": columns.mean(first),
            "second has": columns.mean(second),
        }


def payoffs(
    sent: columns.Numbers, returned: columns.Numbers, endowment: float, multiplier: float
) -> tuple[columns.Numbers, columns.Numbers]:
    """Return what first and second have in the end."""
    return endowment - sent + returned, endowment + multiplier * sent - returned


def selfish(turn: Turn) -> str:
    """Send nothing, return nothing: the subgame-perfect equilibrium."""
    return "0"


def fair(turn: Turn) -> str:
    """Send everything; return what makes both equally rich."""
    sent = turn.facts["amount"]
    if sent is None:
        return str(turn.settings.endowment)
    return str(round(sent * (turn.settings.multiplier + 1) / 2))


def reciprocal(turn: Turn) -> str:
    """Send the share `trust` of the endowment; return the share `thanks` of what came."""
    sent = turn.facts["amount"]
    if sent is None:
        return str(round(min(turn.parameters.get("trust", 0.5), 1) * turn.settings.endowment))
    return str(round(min(turn.parameters.get("thanks", 0.3), 1) * sent * turn.settings.multiplier))


def chance(turn: Turn) -> str:
    """Send any number of coins, and back any number of those that came."""
    sent = turn.facts["amount"]
    return str(
        turn.rng.randint(0, turn.settings.endowment if sent is None else int(sent) * turn.settings.multiplier)
    )


Trust.policies = {"selfish": selfish, "fair": fair, "reciprocal": reciprocal, "random": chance}
Trust.policy_parameters = {"reciprocal": ("trust", "thanks")}

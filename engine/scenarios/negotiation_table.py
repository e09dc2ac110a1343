"""The table at which two negotiate: it keeps them to their turns."""

from __future__ import annotations

from typing import Any

from engine.environments.attributes import shared
from engine.environments.environment import Environment
from engine.scenarios import negotiation_rules as rules

COLUMNS = ("agreed", "price", "seller's share", "offers", "seller gains", "buyer gains", "joint surplus")


class Table(Environment):
    """The last offer, and the agreement once there is one."""

    price = shared(None)
    """The last one named."""
    message = shared("")
    by = shared("")
    """Who named it."""
    offers = shared(0)
    """How many have been named."""

    def setup(self) -> None:
        """There is no agreement yet."""
        self.agreed_in = 0

    def propose(self, price: float, message: str) -> None:
        """Name a price. Raises ValueError out of turn, and for what is no price."""
        self._check_turn()
        if not self.settings.low <= price <= self.settings.high:
            raise ValueError(f"{price:g} is not from {self.settings.low:g} to {self.settings.high:g}")
        self.price, self.message, self.by = price, message, self._role()
        self.offers += 1

    def accept(self) -> float:
        """Agree on the other's price, and return it. Raises ValueError out of turn, and without an offer."""
        self._check_turn()
        if self.price is None or self.by == self._role():
            raise ValueError("there is no offer of the other side")
        self.agreed_in = self.round
        return float(self.price)

    def end_round(self) -> dict[str, Any]:
        """Report what has become of the negotiation so far."""
        if not self.agreed_in:
            return dict.fromkeys(COLUMNS) | {"agreed": 0, "joint surplus": 0.0}
        gains = [self._gain(role) for role in (rules.SELLER, rules.BUYER)]
        share = (self.price - self.settings.cost) / (self.settings.value - self.settings.cost)
        return dict(zip(COLUMNS, (1, self.price, share, self.offers, *gains, sum(gains)), strict=True))

    def _gain(self, role: str) -> float:
        """Return what one side gains; less for each turn before the one in which the price was named."""
        discount = self.settings.discount(role) ** (self.agreed_in - 2)
        return float(rules.gain(self.settings, role, self.price) * discount)

    def _role(self) -> str:
        return rules.SELLER if self.caller == self.members.start else rules.BUYER

    def _check_turn(self) -> None:
        if self.agreed_in or self._role() != rules.mover(self.settings, self.round):
            raise ValueError(f"it is not the turn of the {self._role()}")

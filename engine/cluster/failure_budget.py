"""How many agents may fail before a run stops."""

from __future__ import annotations

from engine.errors import FailureBudgetSpent


class FailureBudget:
    """`share` of the agents may fail: at least one, unless it is 0."""

    def __init__(self, share: float, n_agents: int) -> None:
        self._share = share
        self._n_agents = n_agents
        self._most = max(1, int(share * n_agents)) if share else 0

    def spent(self, n_failed: int, round_: int) -> FailureBudgetSpent | None:
        """Return the error of too many agents having failed; None as long as they are few enough."""
        if n_failed <= self._most:
            return None
        allowed = f"engine.failure_budget = {self._share:g} allows {self._most}"
        return FailureBudgetSpent(
            f"{n_failed} of {self._n_agents} agents have failed",
            where=f"round {round_}",
            hint=f"{allowed}; the table failures of run.db holds each traceback",
        )

"""The base class of agents."""

from __future__ import annotations

from typing import Any


class Agent:
    """Placeholder until the scheduler lands."""

    def __init__(self, agent_id: int) -> None:
        self.id = agent_id

    async def step(self, observation: Any) -> Any:
        """Act once in a round."""

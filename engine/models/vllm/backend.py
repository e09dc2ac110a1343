"""The backend for servers: finds out what they take, keeps them full, and answers every request once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.models.protocol import Catalogue, Deliver, Request
from engine.models.settings import Vllm


class VllmBackend:
    """Requests in, results out; everything between is asyncio on the service's event loop."""

    def __init__(self, settings: Vllm, catalogue: Catalogue, seed: int, directory: Path) -> None:
        """`seed` is the run's; logs of servers that are started go to `directory`."""
        self._settings = settings

    async def open(self) -> dict[str, Any]:
        """Reach the servers. Raises ModelError."""
        return {}

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Take a batch."""

    async def close(self) -> None:
        """Stop."""

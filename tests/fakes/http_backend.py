"""The vLLM backend against servers in the same event loop, with watching that takes no time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from engine.models.answers import Answer
from engine.models.protocol import Catalogue, Request, Result
from engine.models.settings import Vllm
from engine.models.vllm.backend import VllmBackend
from tests.fakes.model_calls import calls
from tests.fakes.stub_server import StubServer


class Service:
    """An open backend, and the catalogue that it reads."""

    def __init__(self, settings: Vllm, directory: Path = Path("nowhere"), **options: Any) -> None:
        self.catalogue = Catalogue()
        self.backend = VllmBackend(settings, self.catalogue, 7, directory, **options)
        self.facts: dict[str, Any] = {}

    def calls(self, answer: Answer, *arguments: Any, **options: Any) -> list[Request]:
        return calls(self.catalogue, answer, *arguments, **options)

    async def ask(self, requests: Sequence[Request], timeout_s: float = 20) -> list[Result]:
        """Submit all at once; return the results in order, exactly one for each."""
        results: list[Result] = []
        complete = asyncio.Event()

        def deliver(some: list[Result]) -> None:
            results.extend(some)
            if len(results) >= len(requests):
                complete.set()

        self.backend.submit(requests, deliver)
        await asyncio.wait_for(complete.wait(), timeout_s)
        await asyncio.sleep(0)  # a second answer to some request would be delivered by now
        assert len(results) == len(requests)
        by_key = {result.key: result for result in results}
        return [by_key[request.key] for request in requests]


@asynccontextmanager
async def service(*stubs: StubServer, **settings: Any) -> AsyncIterator[Service]:
    """A backend that knows these servers."""
    options = {name: settings.pop(name) for name in ("environment", "clock") if name in settings}
    chosen = {"servers": tuple(stub.url for stub in stubs), "patience_s": 0, **settings}
    one = Service(Vllm(**chosen), look_s=0.01, tick_s=0.01, **options)
    try:
        one.facts = await one.backend.open()
        yield one
    finally:
        await one.backend.close()

"""One server over HTTP: requests out, replies back, and every failure sorted by its kind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from engine.models.vllm.address import Address
from engine.models.vllm.credentials import ApiKey
from engine.models.vllm.exchanges import Broken
from engine.models.vllm.http1 import Client, NotConnected
from engine.models.vllm.retry import retry_after_s
from engine.models.vllm.wire import Failure, Kind, Reply, failure, read, shown

ANSWER_S = 30.0
"""Pages other than replies are answered within so many seconds, or not at all."""


class Connection:
    """Requests to one server."""

    def __init__(self, address: Address, key: ApiKey, idle_s: float, now: Callable[[], datetime]) -> None:
        """`idle_s` bounds the time without a byte from the server; `now` reads dates in Retry-After."""
        self.address = address
        self._key = key
        self._now = now
        self._chat = f"{address.api}/chat/completions"
        self.http = Client(address.host, address.port, address.tls, key.headers, idle_s)

    async def chat(self, body: bytes, n: int = 1) -> Reply | Failure:
        """Ask for `n` replies."""
        answer = await self._ask("POST", self._chat, body)
        reply = read(answer, n) if isinstance(answer, bytes) else answer
        return self._without_key(reply) if isinstance(reply, Failure) else reply

    async def get(self, path: str, limit_s: float = ANSWER_S) -> bytes | Failure:
        """Fetch a page."""
        return await self._within(limit_s, "GET", path, None)

    async def post(self, path: str, body: bytes, limit_s: float = ANSWER_S) -> bytes | Failure:
        """Send something to a page."""
        return await self._within(limit_s, "POST", path, body)

    async def _within(self, limit_s: float, method: str, path: str, body: bytes | None) -> bytes | Failure:
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._ask(method, path, body)
        except TimeoutError:
            return Failure(Kind.SICK, f"did not answer within {limit_s:g} s")
        return self._without_key(answer) if isinstance(answer, Failure) else answer

    async def _ask(self, method: str, path: str, body: bytes | None) -> bytes | Failure:
        try:
            response = await self.http.request(method, path, body)
        except NotConnected as error:
            return Failure(Kind.GONE, shown(f"cannot be reached ({error})"))
        except Broken as error:
            return Failure(Kind.SICK, shown(str(error)))
        if response.status == 200:
            return response.body
        wait_s = retry_after_s(response.headers.get("retry-after"), self._now())
        return failure(response.status, response.body, wait_s)

    def _without_key(self, failed: Failure) -> Failure:
        """Servers quote keys in their messages."""
        return failed._replace(text=self._key.hidden(failed.text))

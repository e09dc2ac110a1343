"""Any backend, given requests no faster than the limits of its model allow, and none beyond an allowance.

A request is let through when its prompt and the longest reply that it may get fit into what is left of the
allowance beside all requests under way. So a budget is never exceeded by what was under way when it ran out,
and nothing has to be broken off. The prompt's tokens are estimated from its bytes, at a ratio learnt from
replies, with a margin.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from math import ceil, inf
from typing import Any, NamedTuple, Protocol

from engine.models.protocol import Backend, Catalogue, Deliver, Request, Result
from engine.models.rate_limit import Bucket
from engine.models.settings import ModelSettings
from engine.models.spent import Spent, cost

TICK_S = 0.02
"""Shortest wait: requests that are due within so little time go through together."""
FIRST_TOKENS_PER_BYTE = 0.5
"""Before any reply; English text has about 0.25, and most scripts of other languages less than 0.5."""
MARGIN = 1.25


class Waiting(NamedTuple):
    """A request before the gate."""

    request: Request
    deliver: Deliver
    since: float


class UnderWay(NamedTuple):
    """A request behind the gate, and what was set aside for it."""

    bytes: int
    waited_s: float
    expected_tokens: float
    most: Spent


class CallLater(Protocol):
    """As the event loop's."""

    def __call__(self, delay: float, callback: Callable[[], Any]) -> object: ...


class Gate:
    """Stands between a model service and its backend."""

    def __init__(
        self,
        backend: Backend,
        catalogue: Catalogue,
        settings: ModelSettings,
        *,
        budgeted: bool,
        clock: Callable[[], float] = time.monotonic,
        call_later: CallLater | None = None,
    ) -> None:
        """With `budgeted`, nothing goes through before `allow` was called."""
        self._backend = backend
        self._catalogue = catalogue
        self._settings = settings
        self._clock = clock
        self._call_later = call_later
        limits = settings.requests_per_minute, settings.tokens_per_minute
        self._requests, self._tokens = (Bucket(n, clock) if n else None for n in limits)
        self._allowed = (0.0, 0.0) if budgeted else (inf, inf)
        self._waiting: deque[Waiting] = deque()
        self._under_way: dict[int, UnderWay] = {}
        self._aside = Spent()
        self._prefix_bytes: dict[int, int] = {}
        self._read_bytes = 0
        self._alarm_is_set = False
        self._releasing = False
        self.spent = Spent()
        """What replies have cost since the service started."""
        self.blocked = False
        """Whether the next request does not fit into the allowance."""

    async def open(self) -> dict[str, Any]:
        """Open the backend. Raises ModelError."""
        return await self._backend.open()

    async def close(self) -> None:
        """Close the backend; what waits is given up."""
        self._waiting.clear()
        await self._backend.close()

    def allow(self, tokens: float, money: float) -> None:
        """Say how much may be spent in all, from the start of the service on."""
        self._allowed = tokens, money
        self._release()

    @property
    def n_held(self) -> int:
        """How many requests wait because the next one does not fit into the allowance."""
        return len(self._waiting) if self.blocked else 0

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Take a batch; each request goes through as soon as it may."""
        now = self._clock()
        self._waiting.extend(Waiting(request, deliver, now) for request in requests)
        self._release()

    def _release(self) -> None:
        """Let through what may go; a backend may answer at once, and that lets others through."""
        if self._releasing:
            return
        self._releasing = True
        try:
            while batch := self._next_batch():
                for deliver, part in groupby(batch, key=lambda waiting: waiting.deliver):
                    self._backend.submit([w.request for w in part], partial(self._settle, deliver))
        finally:
            self._releasing = False

    def _next_batch(self) -> list[Waiting]:
        batch: list[Waiting] = []
        while self._waiting and self._let_through(self._waiting[0]):
            batch.append(self._waiting.popleft())
        return batch

    def _let_through(self, waiting: Waiting) -> bool:
        one = self._set_aside(waiting)
        self.blocked = not self._fits(one.most)
        if self.blocked:
            return False
        wait_s = max(
            self._requests.wait(1) if self._requests else 0.0,
            self._tokens.wait(one.expected_tokens) if self._tokens else 0.0,
        )
        if wait_s > 0:
            self._look_again_in(max(wait_s, TICK_S))
            return False
        if self._requests:
            self._requests.take(1)
        if self._tokens:
            self._tokens.take(one.expected_tokens)
        self._under_way[waiting.request.key] = one
        self._aside += one.most
        return True

    def _fits(self, most: Spent) -> bool:
        tokens, money = self._allowed
        total = self.spent + self._aside + most
        return total.tokens_in + total.tokens_out <= tokens and (cost(self._settings, total) or 0.0) <= money

    def _look_again_in(self, seconds: float) -> None:
        if not self._alarm_is_set:
            later = self._call_later or asyncio.get_running_loop().call_later
            self._alarm_is_set = True
            later(seconds, self._wake)

    def _wake(self) -> None:
        self._alarm_is_set = False
        self._release()

    def _settle(self, deliver: Deliver, results: list[Result]) -> None:
        for result in results:
            one = self._under_way.pop(result.key)
            self._aside -= one.most
            self._read_bytes += one.bytes
            self.spent.add(result)
            if self._requests and result.resent:  # known only now, so that later ones wait for them
                self._requests.take(result.resent / max(1, result.samples))
            if self._tokens:
                self._tokens.give_back(one.expected_tokens - result.tokens_in - result.tokens_out)
            result.queued_s += one.waited_s
        deliver(results)
        self._release()

    def _set_aside(self, waiting: Waiting) -> UnderWay:
        """Estimate what a request will cost, and what it can cost at most."""
        request, spent = waiting.request, self.spent
        form = self._catalogue.forms.get(request.form)
        longest = form.sampling.max_tokens if form else 0
        n_bytes = self._bytes_of_prefix(request.prefix) + len(bytes(request.tail))
        prompt = n_bytes * (spent.tokens_in / self._read_bytes if self._read_bytes else FIRST_TOKENS_PER_BYTE)
        reply = spent.tokens_out / spent.calls if spent.calls else longest
        most = Spent(1, ceil(prompt * MARGIN), longest)
        return UnderWay(n_bytes, self._clock() - waiting.since, prompt + reply, most)

    def _bytes_of_prefix(self, prefix: int) -> int:
        n = self._prefix_bytes.get(prefix)
        if n is None:
            messages = self._catalogue.prefixes.get(prefix, ())
            n = self._prefix_bytes[prefix] = sum(len(message.content.encode()) for message in messages)
        return n

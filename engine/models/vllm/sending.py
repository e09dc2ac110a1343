"""Calls on their way to servers: what is written, which attempts are under way, which are taken back."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from engine.draws import mix
from engine.models.protocol import Catalogue, Message
from engine.models.turns import without
from engine.models.vllm.call import Attempt, Call
from engine.models.vllm.server import Server
from engine.models.vllm.wire import Failure, Kind, Reply

Settle = Callable[[Attempt, Reply | Failure], None]

log = logging.getLogger("simtui.models.vllm")
_tail = msgspec.msgpack.Decoder(tuple[Message, ...])


class Tasks:
    """What runs beside the event loop's callbacks, kept from being collected and ended together."""

    def __init__(self) -> None:
        self._all: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something."""
        task = asyncio.get_running_loop().create_task(work)
        self._all.add(task)
        task.add_done_callback(self._all.discard)
        return task

    async def stop(self) -> None:
        """End all."""
        for task in self._all:
            task.cancel()
        await asyncio.gather(*self._all, return_exceptions=True)


class Sending:
    """Attempts, from the moment they are sent to the moment they are settled."""

    def __init__(self, catalogue: Catalogue, seed: int, tasks: Tasks, settle: Settle) -> None:
        self._catalogue = catalogue
        self._seed = seed
        self._tasks = tasks
        self._settle = settle

    def n_replies(self, call: Call) -> int:
        """Return how many replies to ask for: greedy ones would all be the same."""
        greedy = self._catalogue.forms[call.form].sampling.temperature == 0
        return 1 if greedy else len(call.members)

    def conversation(self, call: Call) -> Sequence[Message]:
        """Return the messages of a call after its prefix, as far as they have not been dropped."""
        tail = _tail.decode(call.tail)
        return without(tail, call.start) if call.start else tail

    def send(self, server: Server, call: Call, now: float) -> None:
        """Ask a server. Raises ModelError if the form of answer is impossible, MsgspecError, UnicodeError."""
        assert server.bodies is not None
        n = self.n_replies(call)
        body = server.bodies.write(
            call.prefix,
            call.form,
            self.conversation(call),
            begun=call.begun,
            seed=mix(self._seed, call.members[0].key) & 0x7FFFFFFF,  # some servers take 32 bits, some a sign
            n=n,
            priority=call.round,
        )
        attempt = Attempt(call, server, n, now)
        server.attempts[attempt] = None
        server.in_flight += n
        call.attempts.append(attempt)
        attempt.task = self._tasks.start(self._run(attempt, body))

    def close(self, attempt: Attempt) -> None:
        """Take an attempt off its server and its call."""
        attempt.over = True
        del attempt.server.attempts[attempt]
        attempt.server.in_flight -= attempt.n
        attempt.call.attempts.remove(attempt)

    def take_back(self, attempt: Attempt) -> None:
        """End an attempt whose outcome no longer matters."""
        self.close(attempt)
        if attempt.task is not None:
            attempt.task.cancel()

    async def _run(self, attempt: Attempt, body: bytes) -> None:
        try:
            answer = await attempt.server.connection.chat(body, attempt.n)
        except Exception as error:  # whatever it is, the request must not be lost
            log.exception("%s: unexpected", attempt.server.name)
            answer = Failure(Kind.SICK, f"the request failed ({type(error).__name__})")
        if not attempt.over:
            self._settle(attempt, answer)

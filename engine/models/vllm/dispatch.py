"""Every request to a server and back: where it goes, and what becomes of it there.

All of it runs on one event loop and between two awaits, so nothing here needs a lock.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from engine.errors import ModelError
from engine.models.protocol import Catalogue, Deliver, Finish, Request, Result
from engine.models.settings import Vllm
from engine.models.vllm.breaker import State
from engine.models.vllm.call import Attempt, Call
from engine.models.vllm.grouping import Grouping
from engine.models.vllm.outbox import Outbox
from engine.models.vllm.queues import Queues
from engine.models.vllm.results import cut_by_context, failures, results
from engine.models.vllm.retry import Budget, wait_s
from engine.models.vllm.sending import Sending, Tasks
from engine.models.vllm.server import Server
from engine.models.vllm.shorten import shortened
from engine.models.vllm.wire import Failure, Kind, Reply

FULL = 0.8
"""A window counts as in use from this share on."""

log = logging.getLogger("simtui.models.vllm")


class Dispatcher:
    """Sends calls to servers as these have room, and decides by each outcome what comes next."""

    def __init__(
        self,
        servers: Sequence[Server],
        catalogue: Catalogue,
        settings: Vllm,
        seed: int,
        *,
        tasks: Tasks,
        clock: Callable[[], float],
        rng: Random,
    ) -> None:
        """`seed` is the run's; `rng` spreads retries."""
        self.servers = servers
        self.queues = Queues(servers)
        self._catalogue = catalogue
        self._settings = settings
        self._tasks = tasks
        self._clock = clock
        self._rng = rng
        self._grouping = Grouping(settings.samples_per_request)
        self._sending = Sending(catalogue, seed, tasks, self._settle)
        self._budget = Budget()
        self.trouble_since: float | None = None
        """When the failures began that no reply has interrupted."""
        self._closed = False

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Take a batch; every request is answered once."""
        outbox = Outbox(deliver)
        known = self._catalogue
        complete = []
        for request in requests:
            if request.prefix in known.prefixes and request.form in known.forms:
                complete.append(request)
            else:
                outbox.put(Result(request.key, "its shared part was never sent", Finish.ERROR))
        calls = self._grouping.calls(complete, outbox, self._clock())
        for call in calls:
            self.queues.note_open(call)
        for call in calls:
            self.queues.put(call)
        self.pump()

    def close(self) -> None:
        """Send nothing any more."""
        self._closed = True

    def pump(self) -> None:
        """Send what there is room for: to each server what waits for it, then what waits for others."""
        if self._closed:
            return
        now = self._clock()
        for server in self.servers:
            while server.room(now) > 0 and (call := server.pop()):
                self.send(server, call, now)
        for server in self.servers:
            while server.room(now) > 0 and (call := self.queues.steal()):
                self.send(server, call, now)

    def send(self, server: Server, call: Call, now: float) -> None:
        """Ask a server, at once."""
        if self._sending.n_replies(call) > 1 and not server.features.samples:
            for one in self._grouping.split(call):
                self.queues.put(one)
            return
        if call.started is None:
            call.started = now
        limit_s = self._settings.timeout_s
        if limit_s is not None and call.timer is None:
            left = call.started + limit_s - now
            call.timer = asyncio.get_running_loop().call_later(left, self._time_out, call)
        try:
            self._sending.send(server, call, now)
        except (ModelError, msgspec.MsgspecError, UnicodeError) as error:
            self._fail(call, Finish.ERROR, str(error))

    def _settle(self, attempt: Attempt, answer: Reply | Failure) -> None:
        """Do what the outcome of an attempt asks for."""
        server, call, now = attempt.server, attempt.call, self._clock()
        full = server.in_flight >= FULL * server.window.limit
        self._sending.close(attempt)
        if isinstance(answer, Reply) and answer.model != server.features.replies_as:
            answer = Failure(Kind.MISFIT, f"replies as another model, {answer.model[:100]!r}")
        if isinstance(answer, Reply):
            self._note_reply(attempt, now, full)
            if not call.done:
                self._conclude(call, server, answer, now)
        else:
            self._note_failure(attempt, answer, now)
            if not call.done and not call.attempts:
                self._deal_with(call, server, answer, now)
        self.pump()

    def _note_reply(self, attempt: Attempt, now: float, full: bool) -> None:
        server = attempt.server
        self.trouble_since = None
        self._budget.earn(attempt.n)
        server.window.answered(now, attempt.sent, full=full, count=attempt.n)
        if server.breaker.succeeded(attempt.era):
            log.info("%s: healthy again", server.name)
            server.window.restart()

    def _note_failure(self, attempt: Attempt, failed: Failure, now: float) -> None:
        server = attempt.server
        if failed.kind in (Kind.REFUSED, Kind.TOO_LONG):
            server.breaker.succeeded(attempt.era)  # it is well enough to tell
            return
        server.trouble = failed.text
        self.note_trouble(now)
        if failed.kind is Kind.BUSY:
            server.window.overloaded(now, attempt.sent, failed.retry_after_s)
        elif failed.kind is Kind.SICK:
            if server.breaker.failed(now, attempt.era, failed.text):
                self._left(server)
        elif server.breaker.state is not State.OPEN:
            self.leave(server, failed)

    def note_trouble(self, now: float) -> None:
        """Note that something has failed, or that there is no server to try."""
        if self.trouble_since is None:
            self.trouble_since = now

    def leave(self, server: Server, failed: Failure) -> None:
        """Send nothing more to a server; if it is gone, wait for nothing from it either."""
        server.breaker.open(self._clock(), failed.text)
        server.trouble = failed.text
        self._left(server)
        if failed.kind is Kind.GONE:
            for attempt in list(server.attempts):
                self._sending.take_back(attempt)
                if not attempt.call.done and not attempt.call.attempts:
                    self._deal_with(attempt.call, server, failed._replace(kind=Kind.SICK), self._clock())

    def _left(self, server: Server) -> None:
        log.warning("%s: sick, %s", server.name, server.breaker.reason)
        self.queues.leave(server)

    def _conclude(self, call: Call, server: Server, reply: Reply, now: float) -> None:
        """Give out what a reply holds, and ask for what it lacks."""
        assert server.bodies is not None
        part = server.bodies.part(call.form, second=bool(call.begun))
        if cut_by_context(reply, part, server.features.context):
            self._tasks.start(self._shorten(call, server))
            return
        form = self._catalogue.forms[call.form]
        n_ended = 0
        for member, outcome in results(call, form, part, reply, now):
            if isinstance(outcome, Call):
                self.queues.put(outcome)
            else:
                member.outbox.put(outcome)
                n_ended += 1
        self._end(call, n_ended)

    def _deal_with(self, call: Call, server: Server, failed: Failure, now: float) -> None:
        """Decide what becomes of a call that has failed."""
        call.avoid = server.index
        call.resent += 1
        text = f"{server.name}: {failed.text}"
        match failed.kind:
            case Kind.TOO_LONG:
                self._tasks.start(self._shorten(call, server))
            case Kind.REFUSED:
                self._fail(call, Finish.ERROR, text)
            case Kind.SICK:
                call.tries += 1
                if call.tries > self._settings.retries:
                    self._fail(call, Finish.ERROR, f"{text} (tried {call.tries} times)")
                elif server.breaker.state is State.CLOSED:
                    wait = max(wait_s(call.tries, self._rng), self._budget.spend(now))
                    asyncio.get_running_loop().call_later(wait, self._again, call)
                else:  # to move away from a sick server overloads nobody
                    self.queues.put(call)
            case _:  # never taken up: that is no try
                self.queues.put(call)

    def _again(self, call: Call) -> None:
        if not call.done:
            self.queues.put(call)
            self.pump()

    def _time_out(self, call: Call) -> None:
        for attempt in call.attempts:
            attempt.server.window.overloaded(self._clock(), attempt.sent)
        self._fail(call, Finish.TIMEOUT, f"no reply within {self._settings.timeout_s:g} s")
        self.pump()

    def fail_waiting(self) -> None:
        """Give up what waits while no server replies."""
        troubles = "; ".join(f"{server.name} {server.trouble}" for server in self.servers)
        for call in list(self.queues.drain()):
            self._fail(call, Finish.ERROR, f"no server has replied for a long time: {troubles}")

    def _fail(self, call: Call, finish: Finish, text: str) -> None:
        for member, result in failures(call, finish, text, self._clock()):
            member.outbox.put(result)
        self._end(call, len(call.members))

    def _end(self, call: Call, n_ended: int) -> None:
        """Forget a call; `n_ended` of its requests have their results, the others have calls of their own."""
        self.queues.note_done(call, n_ended)
        call.end()
        for attempt in call.attempts[:]:
            self._sending.take_back(attempt)

    async def _shorten(self, call: Call, server: Server) -> None:
        """Drop the oldest turns of a call that is too long, and ask again."""
        assert server.bodies is not None
        part = server.bodies.part(call.form, second=bool(call.begun))
        fits = await shortened(call, server, self._catalogue.prefixes[call.prefix], part.max_tokens)
        if call.done:
            return
        if fits:
            self.queues.put(call)
        else:
            self._fail(call, Finish.CONTEXT, no_room(server, part.max_tokens))
        self.pump()


def no_room(server: Server, reply_tokens: int) -> str:
    """Say that a prompt does not fit."""
    return (
        f"{server.name}: the prompt does not fit into a context of {server.features.context or '?'} tokens,"
        f" {reply_tokens} of them for the reply, even without the agent's earlier turns"
    )

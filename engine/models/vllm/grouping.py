"""From a batch of requests to calls: requests with equal prompts become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from engine.keys import unpack
from engine.models.protocol import Request
from engine.models.vllm.call import Call, Member
from engine.models.vllm.outbox import Outbox


class Grouping:
    """Makes calls, numbered in the order of arrival."""

    def __init__(self, most: int) -> None:
        """`most` is how many requests become one call."""
        self._most = most
        self._order = count()

    def calls(self, requests: Sequence[Request], outbox: Outbox, now: float) -> list[Call]:
        """Return the calls of a batch, complete."""
        made: list[Call] = []
        open_: dict[tuple[int, int, bytes], Call] = {}
        for request in requests:
            tail = bytes(request.tail)
            prompt = (request.prefix, request.form, tail)
            call = open_.get(prompt)
            if call is None:
                call = self._make(request, tail, now)
                made.append(call)
                if self._most > 1:
                    open_[prompt] = call
            call.members.append(Member(request.key, outbox))
            if len(call.members) == self._most:
                open_.pop(prompt, None)
        for call in made:
            call.samples = len(call.members)
        return made

    def split(self, call: Call) -> Iterator[Call]:
        """Yield a call for each member in place of this one, for a server that gives one reply a request."""
        call.end()
        for member in call.members:
            one = call.part(member, call.begun, call.spent)
            one.samples, one.tries = 1, call.tries
            yield one

    def _make(self, request: Request, tail: bytes, now: float) -> Call:
        key = unpack(request.key)
        return Call(
            request.prefix,
            request.form,
            tail,
            round_=key.round,
            agent=key.agent,
            order=next(self._order),
            arrived=now,
        )

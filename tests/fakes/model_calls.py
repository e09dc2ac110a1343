"""Asks a real backend from a test and waits for all the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from engine.keys import pack
from engine.models.answers import Answer
from engine.models.protocol import (
    Backend,
    Catalogue,
    Form,
    Message,
    Request,
    RequestBatch,
    Result,
    Sampling,
    content_id,
)

GREEDY = Sampling(temperature=0, max_tokens=12)


def calls(
    catalogue: Catalogue,
    answer: Answer,
    tails: Sequence[Sequence[Message]],
    *,
    prefix: Sequence[Message] = (),
    sampling: Sampling = GREEDY,
    round_: int = 1,
) -> list[Request]:
    """One request an agent, all of one form and with one prefix, which the catalogue learns."""
    form = Form(answer, sampling)
    batch = RequestBatch([], {content_id(prefix): tuple(prefix)}, {content_id(form): form})
    catalogue.learn(batch)
    return [
        Request(pack(round_, agent), *batch.prefixes, *batch.forms, msgspec.Raw(msgspec.msgpack.encode(tail)))
        for agent, tail in enumerate(tails)
    ]


def ask(backend: Backend, requests: Sequence[Request], timeout_s: float = 60) -> list[Result]:
    """Submit all at once; return the results in the order of the requests, exactly one for each."""

    async def collect() -> list[Result]:
        results: list[Result] = []
        complete = asyncio.Event()

        def deliver(some: list[Result]) -> None:
            results.extend(some)
            if len(results) >= len(requests):
                complete.set()

        backend.submit(requests, deliver)
        await asyncio.wait_for(complete.wait(), timeout_s)
        await asyncio.sleep(0)  # a second answer to some request would be delivered by now
        assert len(results) == len(requests)
        by_key = {result.key: result for result in results}
        return [by_key[request.key] for request in requests]

    return asyncio.run(collect())


def user(text: str) -> tuple[Message, ...]:
    """A conversation of one message."""
    return (Message("user", text),)

"""What is dropped of a conversation that is too long for a server: the oldest turns, as few as will do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from engine.models.protocol import Message
from engine.models.turns import later_starts, without
from engine.models.vllm.call import Call
from engine.models.vllm.detect import count_tokens
from engine.models.vllm.server import Server

_tail = msgspec.msgpack.Decoder(tuple[Message, ...])


async def shortened(call: Call, server: Server, prefix: Sequence[Message], reply_tokens: int) -> bool:
    """Drop some of a call's oldest turns; return whether there were any left to drop."""
    tail = _tail.decode(call.tail)
    later = [place for place in later_starts(tail) if place > call.start]
    if not later:
        return False
    call.start = await _enough(server, prefix, tail, later, reply_tokens)
    call.dropped = len(tail) - len(without(tail, call.start))
    return True


async def _enough(
    server: Server,
    prefix: Sequence[Message],
    tail: Sequence[Message],
    later: Sequence[int],
    reply_tokens: int,
) -> int:
    """Return the place of those in `later` where the tail is to begin.

    A server that counts tokens is asked for the first place that leaves room for the reply. For others the
    oldest quarter of what is left goes, which the next refusal may repeat.
    """
    room = (server.features.context or 0) - reply_tokens
    if not server.features.counts or room <= 0:
        return later[len(later) // 4]
    low, high = 0, len(later) - 1
    while low < high:  # the later the start, the shorter: bisect
        middle = (low + high) // 2
        messages = _plain([*prefix, *without(tail, later[middle])])
        n_tokens = await count_tokens(server.connection, server.features.model, messages)
        if not isinstance(n_tokens, int):
            return later[middle]
        if n_tokens > room:
            low = middle + 1
        else:
            high = middle
    return later[low]


def _plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": message.content} for message in messages]

"""What passes between a worker and a model service, and what a backend has to offer.

Requests and results travel in batches. What many requests share (the leading messages, the form of the
answer) is sent once, under an id that is a hash of its content, and referred to from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Protocol

import msgspec

from engine.models.answers import Answer


class Message(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One turn of a conversation. `role` is "system", "user" or "assistant"."""

    role: str
    content: str


class Sampling(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How tokens are drawn. Temperature 0 is greedy; top_k 0 means no limit."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    logprobs: bool = False
    """Also say how likely the reply was."""


class Form(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What many requests have in common besides their text: the answer asked for, and the sampling."""

    answer: Answer
    sampling: Sampling


class Request(msgspec.Struct, array_like=True, gc=False):
    """One call to a model.

    `key` is the packed (round, agent, call); `prefix` and `form` are ids of things sent before or in the same
    batch; `tail` are the messages of this request alone, still packed: `Catalogue.messages` unpacks them, and
    a backend that does not read never pays for it. `facts` is what a rule-based policy decides on.
    """

    key: int
    prefix: int
    form: int
    tail: msgspec.Raw
    facts: Any = None


class RequestBatch(msgspec.Struct, array_like=True, gc=False):
    """Requests of one worker, with the prefixes and forms that this service has not seen yet."""

    requests: list[Request]
    prefixes: dict[int, tuple[Message, ...]] = {}
    forms: dict[int, Form] = {}


class Finish(StrEnum):
    """Why a reply ended. Only STOP is a complete answer."""

    STOP = "stop"
    LENGTH = "length"
    CONTEXT = "context"
    TIMEOUT = "timeout"
    ERROR = "error"


class Result(msgspec.Struct, array_like=True, gc=False, omit_defaults=True):
    """One reply.

    Times are seconds: `queued_s` from arrival at the service to the start of work, `busy_s` from there to the
    end. Tokens: `tokens_in` counts the whole prompt, `tokens_cached` those of them that cost no work.
    `dropped` counts the oldest messages of the tail that did not fit into the model's context.
    `samples` is how many equal prompts were answered by one request to a server: above 1, the tokens are this
    reply's share, and which of the replies came to whom depends on what else was asked at that time. 0 marks
    a reply from the answer cache, which no request was made for.
    `logprob`, where it was asked for, is the natural logarithm of the probability of the reply's tokens at
    temperature 1, each among those that the form of the answer allowed.
    `resent` is how often servers had failed at the request before.
    With finish ERROR or TIMEOUT, `text` is what went wrong.
    """

    key: int
    text: str
    finish: Finish = Finish.STOP
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    queued_s: float = 0.0
    busy_s: float = 0.0
    dropped: int = 0
    samples: int = 1
    logprob: float | None = None
    resent: int = 0


class ResultBatch(msgspec.Struct, array_like=True, gc=False):
    """Replies for one worker, in any order."""

    results: list[Result]


Deliver = Callable[[list[Result]], None]
"""How a backend hands results back; call it in the service's event loop, with as many as are ready."""


_TAIL = msgspec.msgpack.Decoder(tuple[Message, ...])


class Catalogue:
    """The shared parts that a service has been told of, by id."""

    def __init__(self) -> None:
        self.prefixes: dict[int, tuple[Message, ...]] = {}
        self.forms: dict[int, Form] = {}

    def learn(self, batch: RequestBatch) -> None:
        """Remember what a batch brought along."""
        self.prefixes.update(batch.prefixes)
        self.forms.update(batch.forms)

    def knows(self, request: Request) -> bool:
        """Tell whether a request refers to what was learned only."""
        return request.prefix in self.prefixes and request.form in self.forms

    def messages(self, request: Request) -> tuple[Message, ...]:
        """Return the whole conversation of a request."""
        return self.prefixes[request.prefix] + _TAIL.decode(request.tail)


class Backend(Protocol):
    """A model behind the batch protocol. It runs inside a model service, on that service's event loop."""

    async def open(self) -> dict[str, Any]:
        """Load or reach the model and return what the manifest should say of it (hash, version, mode).

        Raises ModelError.
        """
        ...

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Take a batch. Every request is answered exactly once through `deliver`, whatever happens.

        Never blocks the event loop for long and never raises: what goes wrong with one request is a Result
        with finish ERROR.
        """
        ...

    async def close(self) -> None:
        """Give back memory, threads and connections. Requests still open are given up."""
        ...


def content_id(value: object) -> int:
    """Return a 63-bit id that depends on the content alone, the same in every process and on every host."""
    return int.from_bytes(blake2b(msgspec.msgpack.encode(value), digest_size=8).digest(), "big") >> 1


def prompt_id(prefix: int, tail: bytes) -> int:
    """Return the id of a whole prompt: the id of its leading messages, and the packed others."""
    hashed = _opening(prefix).copy()
    hashed.update(tail)
    return int.from_bytes(hashed.digest(), "big") >> 1


@lru_cache(maxsize=4096)
def _opening(prefix: int) -> blake2b:
    """Return the hash of what many prompts begin with; to go on from a copy takes a third of the time."""
    return blake2b(b"%x" % prefix, digest_size=8)

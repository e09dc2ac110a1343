"""The messages of a workflow. A link carries lists of them, in msgpack."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from engine.workflows.failures import Failure

MAIN = -1
"""The number of the process that the workflow runs in, where those of workers begin at 0."""


class Source(msgspec.Struct, array_like=True, gc=False):
    """Where a value comes from."""

    call: int
    worker: int
    kind: int
    """The number of the object's class."""
    method: str


class Call(msgspec.Struct, array_like=True, tag=1):
    """Carry out a method once the values that it depends on are there."""

    number: int
    object: int
    method: str
    args: list[bytes]
    """Each argument in msgpack; values that are yet to come are in them as extensions."""
    kwargs: dict[str, bytes]
    sources: list[Source]


class Forward(msgspec.Struct, array_like=True, tag=2, gc=False):
    """Send a value on, as soon as it is there."""

    call: int
    to: int


class Release(msgspec.Struct, array_like=True, tag=3, gc=False):
    """Nobody will refer to these values any more."""

    calls: list[int]


class Value(msgspec.Struct, array_like=True, tag=4, gc=False):
    """A value, or why there is none."""

    call: int
    data: bytes
    failure: Failure | None
    path_s: float
    """How long the longest chain of calls up to this value took."""


class Lost(msgspec.Struct, array_like=True, tag=5, gc=False):
    """A worker has ended: what it has not sent will never come."""

    worker: int
    how: str


class Settle(msgspec.Struct, array_like=True, tag=6, gc=False):
    """Answer with Settled once all calls are carried out."""

    question: int
    with_records: bool


class Record(msgspec.Struct, array_like=True, gc=False):
    """A call that was carried out."""

    number: int
    object: int
    method: str
    seconds: float
    path_s: float
    after: int
    """The call that it waited for longest; -1: none."""


class Settled(msgspec.Struct, array_like=True, tag=7):
    """All calls up to the question are carried out."""

    worker: int
    question: int
    failure: Failure | None
    """The first one that arose here."""
    cpu_s: float
    records: list[Record]


Order: TypeAlias = Call | Forward | Release | Value | Lost | Settle
"""What a worker is told."""
News: TypeAlias = Value | Settled
"""What comes back."""

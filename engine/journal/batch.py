"""What a worker sends to the journal: rows in the order of the columns, ready to be written.

A row is a plain tuple. Decoding a batch makes them, the writer passes them on, and no line of Python runs for
each of them in the coordinator.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""An integer that SQLite can hold; msgpack could bring larger ones."""

Value = float | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | str | None

PLAIN_COLUMNS = (
    "key",
    "model",
    "prompt",
    "prefix",
    "form",
    "value",
    "tokens_in",
    "tokens_out",
    "tokens_cached",
    "queued_s",
    "busy_s",
    "slice",
    "text",
    "messages",
)

PlainRow = tuple[
    Count,  # key
    Count,  # model
    Count,  # prompt
    Count,  # prefix
    Count,  # form
    Value,
    Count,  # tokens_in
    Count,  # tokens_out
    Count,  # tokens_cached
    float,  # queued_s
    float,  # busy_s
    Count,  # slice
    str | None,  # text
    str | None,  # messages
]

PLAIN = {"problem": "NULL", "finish": "'stop'", "samples": "1", "logprob": "NULL"}
"""What nearly every reply has in the other columns, in SQL. Such a row travels without them: to bind one None
takes Python 0.6 us, as it looks for an adapter of None's in vain."""
REPLY_COLUMNS = (*PLAIN_COLUMNS, *PLAIN)

ReplyRow = tuple[
    Count,
    Count,
    Count,
    Count,
    Count,
    Value,
    Count,
    Count,
    Count,
    float,
    float,
    Count,
    str | None,
    str | None,
    str | None,  # problem
    str,  # finish
    Count,  # samples
    float | None,  # logprob
]

FAILURE_COLUMNS = ("key", "kind", "detail", "traceback", "action")
FailureRow = tuple[Count, str, str, str | None, str]

MESSAGE_COLUMNS = ("key", "kind", "round", "receiver", "turn", "sender", "message", "answer", "error")
MessageRow = tuple[
    Count | None,  # key of the call that asks; None for a told message
    str,  # kind
    Count,  # round
    Count,  # receiver
    Count,  # turn
    Count,  # sender
    str | None,  # message
    str | None,  # answer
    str | None,  # error
]

CALLS_COLUMNS = ("environment", "name", "grp", "round", "first", "n", "calls")
CallsRow = tuple[
    Count,  # environment
    str,  # name
    Annotated[int, Meta(ge=-1, le=2**63 - 1)],  # group
    Count,  # round
    Count,  # first
    Count,  # n
    str,  # calls
]

SNAPSHOT_COLUMNS = ("round", "grp", "first", "n", "code", "observation", "state")
SnapshotRow = tuple[
    Count,  # round
    Count,  # group
    Count,  # first agent
    Count,  # number of agents
    str,  # hash of the code
    bytes,  # observation
    bytes,  # agents
]

SharedRow = tuple[Count, str]
"""(id, JSON) of a prefix or a form."""


class JournalBatch(msgspec.Struct, array_like=True, gc=False):
    """Rows of one worker, and the prefixes and forms they refer to that it has not sent before."""

    replies: list[ReplyRow] = []
    failures: list[FailureRow] = []
    prefixes: list[SharedRow] = []
    forms: list[SharedRow] = []
    messages: list[MessageRow] = []
    calls: list[CallsRow] = []
    snapshots: list[SnapshotRow] = []
    plain: list[PlainRow] = []
    """Replies as in PLAIN."""

    def __len__(self) -> int:
        """Return how many rows a worker waits for: all but the shared ones."""
        of_agents = len(self.plain) + len(self.replies) + len(self.failures) + len(self.messages)
        return of_agents + len(self.calls) + len(self.snapshots)

"""What agents say to each other, as it travels between workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from engine.agents.effects import Effect

if TYPE_CHECKING:
    from engine.agents.scheduler import Scheduler

To = int | str | list[int]
"""Whom a told message is for: an agent or environment, a board's name, or several agents."""
Letter = tuple[To, int, bytes]
"""A told message on its way: for whom, the sender, and the packed message."""


class AskFailed(Exception):
    """The agent that was asked does not exist, has stopped, or raised while it answered."""


class Absent(AskFailed, ValueError):
    """The agent that was told or asked something has retired, or has not been born."""


class NoAnswer(AskFailed):
    """The agent that was asked cannot answer: it waits, itself or through others, for who asks."""


class MailboxFull(Exception):
    """An agent told more in one turn than a mailbox holds."""


class Sender(NamedTuple):
    """Who tells something, when, and on whose account."""

    id: int
    round: int
    group: int
    """The group whose round waits for the message to arrive."""
    sent: dict[int, int]
    """Messages told to other workers on that account, by worker."""


class Batch(msgspec.Struct, array_like=True, gc=False):
    """Messages told in one round, by agents whose turns count for one group."""

    round: int
    group: int
    letters: list[Letter]


class Question(msgspec.Struct, array_like=True, gc=False):
    """A message that expects an answer; `key` is the call of the one who asks."""

    key: int
    receiver: int
    group: int
    message: bytes


class Reply(msgspec.Struct, array_like=True, gc=False):
    """The answer to a question, or why there is none; `sent` counts what was told while answering."""

    key: int
    message: bytes
    error: str | None = None
    sent: dict[int, int] = {}


class Call(msgspec.Struct, array_like=True, gc=False):
    """A call of an environment; `arguments` is JSON."""

    key: int
    environment: int
    method: str
    arguments: bytes


class Returned(msgspec.Struct, array_like=True, gc=False):
    """What a call of an environment returned, as JSON, or why it did not."""

    key: int
    value: bytes
    error: str | None = None


class Probe(msgspec.Struct, array_like=True, gc=False):
    """Looks for a cycle of agents that wait for each other: who asked whom so far, by keys of calls."""

    path: list[int]
    receiver: int
    """Whom the last of them asks."""
    held: bool
    """Whether that question is still where it was asked, as the mailbox of the receiver is full."""


class Post(msgspec.Struct, array_like=True, gc=False):
    """All mail from one worker to another since the last time."""

    origin: int
    batches: list[Batch] = []
    taken: int = 0
    """How many letters have been taken in here since the last time."""
    questions: list[Question] = []
    replies: list[Reply] = []
    calls: list[Call] = []
    returned: list[Returned] = []
    probes: list[Probe] = []
    cycles: list[list[int]] = []
    """Cycles that were found, as keys of the calls that wait for each other."""


class Ask(Effect):
    """A question to another agent; the result is what its `receive` returns."""

    __slots__ = ("key", "message", "receiver")
    key: int
    """Set when the question is sent."""

    def __init__(self, receiver: int, message: Any) -> None:
        self.receiver = receiver
        self.message = message

    def begin(self, scheduler: Scheduler) -> None:
        """Send the question."""
        self.activation.agent.world.mail.questions.ask(self)

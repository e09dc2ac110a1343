"""What agents say to each other, as it travels between workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from engine.agents.effects import Effect

if TYPE_CHECKING:
    from engine.agents.scheduler import Scheduler


class AskFailed(Exception):
    """The agent that was asked does not exist, has stopped, or raised while it answered."""


class NoAnswer(AskFailed):
    """The agent that was asked did not answer while anything else in the run still moved."""


class Tell(msgspec.Struct, array_like=True, gc=False):
    """A message that expects no answer; `round` and `group` are those it was sent in."""

    receiver: int
    sender: int
    round: int
    group: int
    message: msgspec.Raw


class Question(msgspec.Struct, array_like=True, gc=False):
    """A message that expects an answer; `key` is the call of the one who asks."""

    key: int
    receiver: int
    group: int
    message: msgspec.Raw


class Reply(msgspec.Struct, array_like=True, gc=False):
    """The answer to a question, or why there is none; `sent` counts what was told while answering."""

    key: int
    message: msgspec.Raw
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


class Post(msgspec.Struct, array_like=True, gc=False):
    """All mail from one worker to another since the last time."""

    tells: list[Tell] = []
    questions: list[tuple[int, Question]] = []
    replies: list[Reply] = []
    calls: list[tuple[int, Call]] = []
    returned: list[Returned] = []


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
        self.activation.agent.world.mail.ask(self)

"""One call of an agent to its model, and how calls are numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from engine.agents.effects import Effect
from engine.agents.memory import Prompt
from engine.agents.replies import Asked
from engine.keys import MAX_CALLS
from engine.models.protocol import Message, Request

if TYPE_CHECKING:
    from engine.agents.model import Model
    from engine.agents.scheduler import Scheduler

STEP_CALLS = MAX_CALLS // 2
"""Calls below this number belong to an agent's step, the others to answering what it was asked."""

_encode = msgspec.msgpack.Encoder().encode


class TooManyCalls(Exception):
    """An agent made more calls in one round than a key can number."""


class Last(NamedTuple):
    """An answer that may stand for a later one, by the key of its call."""

    key: int
    value: Any


class ModelCall(Effect):
    """One question to the model; the result is the parsed answer."""

    __slots__ = (
        "answer",
        "facts",
        "form",
        "key",
        "last",
        "model",
        "prefix",
        "prompt",
        "prompt_id",
        "slice",
        "tries",
    )
    key: int
    """These are set when the call is submitted; the next three are ids."""
    prefix: int
    form: int
    prompt_id: int
    slice: int
    """The slice of the population that the agent belongs to; 0 for none."""
    last: Last | None
    """The agent's answer of this form before the call, where the preset may make use of it."""
    on_failure: ClassVar[str] = ""
    """What takes the place of the preset's `answers.on_failure`, if anything."""

    def __init__(self, model: Model, prompt: Prompt, answer: Asked, facts: Any) -> None:
        self.model = model
        self.prompt = prompt
        self.answer = answer
        self.facts = facts
        self.last = None
        self.tries = 0

    @property
    def tail(self) -> tuple[Message, ...]:
        """The messages of this request alone."""
        return self.prompt.tail

    def begin(self, scheduler: Scheduler) -> None:
        """Queue the request."""
        self.model.submit(self)

    def encoded_tail(self) -> bytes:
        """Return those messages as they go over the wire."""
        return _encode(self.prompt.tail)

    def request(self, tail: bytes) -> Request:
        """Return what goes to the service; `tail` is the encoded one."""
        facts = None if self.facts is None else msgspec.Raw(_encode(self.facts))
        return Request(self.key, self.prefix, self.form, msgspec.Raw(tail), facts)


def take_key(activation: Any, n: int = 1) -> int:
    """Number the next `n` calls of an activation and return the first number. Raises TooManyCalls."""
    key: int = activation.key
    if key % STEP_CALLS + n >= STEP_CALLS:
        raise TooManyCalls(f"more than {STEP_CALLS - 1} calls in one round")
    activation.key = key + n
    return key

"""What an agent remembers of its conversation with the model.

A million agents hold a million memories: a memory is two pointers, turns are shared wherever their text is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from engine.models.protocol import Message


class Prompt(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A conversation to be continued by the model.

    `base` are the leading messages that many agents share (pass the same tuple: it is sent and computed
    once), `tail` the agent's own.
    """

    base: tuple[Message, ...]
    tail: tuple[Message, ...]


class Memory:
    """The full history of one agent: everything said so far goes into the next prompt."""

    __slots__ = ("base", "turns")

    def __init__(self, base: tuple[Message, ...] = ()) -> None:
        self.base = base
        self.turns: tuple[Message, ...] = ()

    def with_user(self, text: str) -> Prompt:
        """Return the prompt that goes on with `text` from the user; the memory itself does not change."""
        return Prompt(self.base, (*self.turns, said("user", text)))

    def remember(self, prompt: Prompt, reply: str) -> None:
        """Keep a prompt that was made from this memory, and the reply to it."""
        self.turns = (*prompt.tail, said("assistant", reply))

    def note(self, text: str, importance: float = 5.0) -> None:
        """Keep something that happened, without asking the model; `importance` is from 1 to 10.

        It is one more message of the user; a memory that retrieves keeps it as something to be recalled.
        """
        self.turns = (*self.turns, said("user", text))

    @property
    def kept(self) -> Any:
        """What a snapshot needs besides the turns: anything msgpack can carry, None for nothing."""
        return None

    def restore(self, kept: Any) -> None:
        """Take over what another memory of this kind has kept."""


@lru_cache(maxsize=4096)
def said(role: str, content: str) -> Message:
    """Return the message; equal short-lived ones share one object."""
    return Message(role, content)

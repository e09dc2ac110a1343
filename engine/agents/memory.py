"""What an agent remembers of its conversation with the model.

A million agents hold a million memories: a memory is two pointers, turns are shared wherever their text is.
"""

from __future__ import annotations

from functools import lru_cache

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


@lru_cache(maxsize=4096)
def said(role: str, content: str) -> Message:
    """Return the message; equal short-lived ones share one object."""
    return Message(role, content)

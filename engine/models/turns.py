"""Which of an agent's past turns can go when a conversation is too long, and what is then left."""

from __future__ import annotations

from collections.abc import Sequence

from engine.models.protocol import Message


def later_starts(tail: Sequence[Message]) -> list[int]:
    """Return where the tail may begin once it is cut: at a later message of the user, or at the last one."""
    return [n for n, message in enumerate(tail) if n > 0 and (message.role == "user" or n == len(tail) - 1)]


def without(tail: Sequence[Message], start: int) -> list[Message]:
    """Return the tail from `start` on, and the system messages before it (who the agent is)."""
    return [message for n, message in enumerate(tail) if n >= start or message.role == "system"]

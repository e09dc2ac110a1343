"""What an environment has been called in a round, as the journal has it."""

from __future__ import annotations

import msgspec


class Past(msgspec.Struct, array_like=True, frozen=True):
    """A call that was carried out, in the order of which an environment is rebuilt."""

    key: int | None
    """Of the agent's call; None for one that was carried out at the round's end."""
    caller: int
    method: str
    arguments: msgspec.Raw
    value: msgspec.Raw
    error: str | None


def read(text: str) -> list[Past]:
    """Return the calls in a row of the journal."""
    return msgspec.json.decode(text, type=list[Past])

"""What messages are decoded to: the type that an agent's `receive` is annotated with."""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

import msgspec


def decoder_of(agent_type: Any) -> msgspec.msgpack.Decoder[Any]:
    """Return the decoder of a class of agents. Raises NameError for an annotation that is not to be found."""
    return _decoder_of(agent_type)


@cache
def _decoder_of(agent_type: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(get_type_hints(agent_type.receive).get("message", Any))

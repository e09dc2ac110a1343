"""The key of a call: (round, agent, call) packed into one 63-bit integer.

Everything that a run pays for or depends on is filed under this key, on the wire and as the primary key of
the journal, so that one integer comparison tells whether two replies are the same one.
Layout, most significant first: 20 bits round, 31 bits agent, 12 bits call number within that agent's round.
"""

from __future__ import annotations

from typing import NamedTuple

AGENT_BITS = 31
CALL_BITS = 12
ROUND_SHIFT = AGENT_BITS + CALL_BITS

PERSONAS = 0
"""The round before the first one, in which a model writes personas."""
MAX_ROUNDS = 1 << 20
MAX_AGENTS = 1 << AGENT_BITS
MAX_CALLS = 1 << CALL_BITS


class CallKey(NamedTuple):
    """A key taken apart. Rounds count from 1 (0: PERSONAS), agents and calls from 0."""

    round: int
    agent: int
    call: int


def pack(round_: int, agent: int, call: int = 0) -> int:
    """Return the packed key; the parts must be within MAX_ROUNDS, MAX_AGENTS and MAX_CALLS."""
    return round_ << ROUND_SHIFT | agent << CALL_BITS | call


def unpack(key: int) -> CallKey:
    """Take a packed key apart."""
    return CallKey(key >> ROUND_SHIFT, key >> CALL_BITS & (MAX_AGENTS - 1), key & (MAX_CALLS - 1))

"""An agent between two rounds, as a snapshot keeps it."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.agents.agent import Agent
from engine.agents.memory import said
from engine.errors import SimtuiError
from engine.models.protocol import Message

_NOTHING = msgspec.Raw(b"\xc0")
_encode = msgspec.msgpack.Encoder().encode
HINT = "--set journal.snapshot_every=0 does without snapshots and rebuilds agents from their replies."


class Frozen(msgspec.Struct, array_like=True, gc=False):
    """All that an agent has when no turn of it is in flight; an agent that has stopped has nothing."""

    stopped: bool = False
    state: msgspec.Raw = _NOTHING
    turns: tuple[Message, ...] = ()
    """Of its memory."""
    inbox: list[tuple[int, msgspec.Raw]] = []
    """What it hears next: sender and message."""
    kept: Any = None
    """Of its memory, what is no turn."""
    topics: list[str] = []
    """What it is subscribed to."""


def declares_state(agent: Agent) -> bool:
    """Tell whether an agent's own class does: one that extends another may keep more than that declares."""
    return vars(type(agent)).get("State") is not None


def freeze(agent: Agent, inbox: list[tuple[int, msgspec.Raw]]) -> Frozen:
    """Keep an agent whose class declares its state. Raises SimtuiError if that holds what cannot be kept."""
    try:
        state = msgspec.Raw(_encode(agent.state))
    except (TypeError, ValueError, OverflowError) as error:
        raise _refusal(agent, f"cannot be kept in a snapshot: {error}") from error
    memory = agent._memory
    if memory is None:
        return Frozen(False, state, (), inbox)
    return Frozen(False, state, memory.turns, inbox, memory.kept)


def thaw(frozen: Frozen, agent: Agent) -> None:
    """Give a new agent what another one had. Raises SimtuiError if it does not fit."""
    assert agent.State is not None
    try:
        agent.state = msgspec.msgpack.decode(frozen.state, type=agent.State)
    except msgspec.DecodeError as error:
        raise _refusal(agent, f"is not what the snapshot holds: {error}") from error
    if frozen.turns:
        agent.memory.turns = tuple(said(turn.role, turn.content) for turn in frozen.turns)
    if frozen.kept is not None:
        agent.memory.restore(frozen.kept)


def _refusal(agent: Agent, what: str) -> SimtuiError:
    name: Any = type(agent).__name__
    return SimtuiError(f"the state of {name} {what}", where=f"agent {agent.id}", hint=HINT)

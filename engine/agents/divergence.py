"""When agents that are run again do something else than before."""

from __future__ import annotations

from enum import Enum

from engine.errors import SimtuiError
from engine.keys import CallKey

DIVERGED = "diverged"
"""The kind of failure under which a replay notes calls that are not what they were."""


class Beyond(Enum):
    """What a repeated run does with a call that its journal does not have, or has with another prompt."""

    ASK = 0
    """Ask the model; another prompt ends the run."""
    END = 1
    """End the run."""
    REPORT = 2
    """Note it, and go on with the reply of then, or without one."""


class Diverged(SimtuiError):
    """An agent that is run again asks something else than it did before."""

    def __init__(self, key: CallKey) -> None:
        super().__init__(
            f"call {key.call} is not what it was: the scenario's code, the preset or a library has changed",
            where=f"agent {key.agent}, round {key.round}",
            hint="`simtui replay` shows both prompts; with the former code the run can go on",
        )

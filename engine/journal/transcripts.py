"""Whose prompts and replies are kept word for word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.keys import MAX_AGENTS

_ALL = 1 << 32
_ONE_IN = re.compile(r"1 in ([1-9][0-9]{0,9})")


@dataclass(frozen=True, slots=True)
class Transcripts:
    """A sample of the agents that depends on their numbers alone, so every process draws the same one.

    Agent 0 hashes to 0: unless nothing is kept, it is.
    """

    threshold: int
    """Agents whose 32-bit hash is below this are in the sample."""

    @classmethod
    def parse(cls, setting: str) -> Transcripts:
        """Read "all", "none" or "1 in N". Raises ValueError with what is allowed."""
        if setting in ("all", "none"):
            return cls(_ALL if setting == "all" else 0)
        found = _ONE_IN.fullmatch(setting)
        if found is None or int(found[1]) > MAX_AGENTS:
            raise ValueError(f'{setting!r} is not "all", "none" or "1 in N" with N from 1 to {MAX_AGENTS}')
        return cls(_ALL // int(found[1]))

    @property
    def keeps_all(self) -> bool:
        """Whether the texts of all agents are kept."""
        return self.threshold == _ALL

    def keeps(self, agent: int) -> bool:
        """Tell whether the texts of this agent are kept."""
        return self.threshold == _ALL or _mix(agent) < self.threshold


def _mix(number: int) -> int:
    """Scatter a number over 32 bits, one to one: the finalizer of MurmurHash3 (Appleby 2011).

    Taking every Nth agent instead would pick the same seat of every group.
    """
    number ^= number >> 16
    number = number * 0x85EBCA6B & 0xFFFFFFFF
    number ^= number >> 13
    number = number * 0xC2B2AE35 & 0xFFFFFFFF
    return number ^ number >> 16

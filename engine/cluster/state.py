"""Where a run stands."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """What the coordinator is at, or how it has ended."""

    STARTING = "starting"
    WRITING = "writing"
    REBUILDING = "rebuilding"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    BUDGET = "budget"

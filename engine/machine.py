"""What this process may use of the machine it runs on."""

from __future__ import annotations

import os


def n_cores() -> int:
    """Return how many cores this process may use; where the system does not tell (macOS), all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""What a vLLM server tells of its queue."""

from __future__ import annotations

import re
from typing import NamedTuple

# One line for each engine behind the server; the labels may hold anything in quotes.
_GAUGE = re.compile(
    rb'^vllm:num_requests_(running|waiting)(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})? ([0-9.eE+]+)$', re.M
)


class QueueLength(NamedTuple):
    """Requests that a server computes now, and those that wait for that."""

    running: int
    waiting: int


def queue_length(page: bytes) -> QueueLength | None:
    """Read the page /metrics (the text format of Prometheus); None if it does not tell."""
    found = {b"running": 0.0, b"waiting": 0.0}
    seen = set()
    for which, value in _GAUGE.findall(page):
        try:
            found[which] += float(value)
        except ValueError:
            return None
        seen.add(which)
    if len(seen) < 2 or max(found.values()) > 1e9:
        return None
    return QueueLength(int(found[b"running"]), int(found[b"waiting"]))

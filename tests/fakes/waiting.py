"""The one place where tests wait: on a condition, for a bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], what: str, within_s: float = 20.0) -> None:
    """Look again and again until the condition holds; fail with `what` if it does not in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        time.sleep(0.02)

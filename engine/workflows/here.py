"""A workflow in this process: each call is carried out at once, to compare with."""

from __future__ import annotations

import asyncio
from functools import partial
from inspect import iscoroutine
from typing import Any


class Here:
    """Runs what is asynchronous to its end."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def handle(self, target: Any) -> LocalHandle:
        """Return what looks like a handle."""
        return LocalHandle(self, target)

    def run(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call, and wait."""
        outcome = function(*args, **kwargs)
        return self._runner.run(outcome) if iscoroutine(outcome) else outcome

    def close(self) -> None:
        """Close the event loop."""
        self._runner.close()


class LocalHandle:
    """The object's methods, each carried out when it is called."""

    def __init__(self, here: Here, target: Any) -> None:
        self._here = here
        self._target = target

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        return partial(self._here.run, found) if callable(found) else found

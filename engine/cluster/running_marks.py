"""Whose turn each worker is running at this moment, readable after the worker has died.

A file of one 64-bit number a worker, mapped into memory: a write is a store, and it outlives a SIGKILL or a
segmentation fault.
"""

from __future__ import annotations

import mmap
from pathlib import Path

from engine.agents.scheduler import NOBODY

_BYTES = 8


def make(folder: str, n_workers: int) -> None:
    """Make the file, before there is any worker to open it."""
    _path(folder).write_bytes(b"\xff" * n_workers * _BYTES)


class RunningMarks:
    """The marks of all workers."""

    def __init__(self, folder: str, n_workers: int) -> None:
        with _path(folder).open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), n_workers * _BYTES)
        self._numbers = memoryview(self._map).cast("q")

    def of(self, worker: int) -> memoryview[int]:
        """Return the one mark that a worker writes to."""
        return self._numbers[worker : worker + 1]

    def read(self, worker: int) -> int:
        """Return the key of the turn that a worker is running, or NOBODY."""
        return self._numbers[worker]

    def clear(self) -> None:
        """Forget all: the workers are dead, and what they ran has been looked at."""
        for worker in range(len(self._numbers)):
            self._numbers[worker] = NOBODY


def _path(folder: str) -> Path:
    return Path(folder) / "running"

"""What the coordinator writes: the journal, the manifest and the log."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from multiprocessing_logging import MultiProcessingHandler

from engine.cluster.children import LogQueue
from engine.cluster.setup import Setup
from engine.journal.writer import Writer


class RunFiles:
    def __init__(self, setup: Setup) -> None:
        self.writer = Writer(setup.directory / "run.db")

    def close(self, state: str, descriptions: dict[str, dict[str, Any]]) -> None:
        self.writer.close()


class RunLog:
    """Brings the log records of all processes of the run into one file."""

    def __init__(self, directory: Path, queue: LogQueue) -> None:
        to_file = logging.FileHandler(directory / "run.log", encoding="utf-8")
        to_file.setFormatter(logging.Formatter("%(asctime)s %(processName)s %(levelname)s %(message)s"))
        # The library makes a queue of its own, for forks alone; this one was there before the first child.
        self._handler = MultiProcessingHandler("run-log", sub_handler=to_file)
        self._handler.queue = queue
        root = logging.getLogger()
        root.handlers = [self._handler]
        root.setLevel(logging.INFO)

    def close(self) -> None:
        """Write what is still on its way."""
        self._handler.close()

"""What the coordinator can do to the world outside."""

from __future__ import annotations

from typing import Protocol

from engine.cluster.control import Event
from engine.cluster.wire import ToService, ToWorker
from engine.models.protocol import RequestBatch


class Surroundings(Protocol):
    """What the coordinator can do to the world outside."""

    def order(self, worker: int, message: ToWorker) -> None:
        """Send to a worker."""

    def instruct(self, service: str, message: ToService) -> None:
        """Send to a model service."""

    def ask(self, model: str, batch: RequestBatch) -> None:
        """Send requests of the coordinator's own to a model service; `Coordinator.replies` takes replies."""

    def retire_service(self, process: str) -> None:
        """End a model service that is not needed any more."""

    def emit(self, event: Event) -> None:
        """Tell whoever watches."""

    def restart_service(self, process: str) -> None:
        """Start a model service in place of one that has ended."""

    def restart_workers(self) -> None:
        """Start all workers anew, to rebuild their agents from the journal."""

    def was_running(self, worker: int) -> int:
        """Return the key of the turn that a dead worker was running, NOBODY if none."""

    def end(self) -> None:
        """Shut everything down; `Coordinator.last_word` is to be told when the files are closed."""

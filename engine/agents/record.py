"""What the agents' side needs of the journal and of the preset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from engine.models.protocol import Form, Message


class OnFailure(Protocol):
    """The preset's `[answers]` table."""

    @property
    def retries(self) -> int: ...
    @property
    def on_failure(self) -> str: ...
    @property
    def fallback(self) -> float | str | None: ...


class Record(Protocol):
    """Where replies and failures go: the journal's side of a worker."""

    def reply(self, request: Any, result: Any, model: int, value: Any, problem: str | None) -> None:
        """Keep the reply to a ModelCall; `value` is None where it could not be read at all."""

    def told(self, round_: int, receiver: int, messages: Sequence[tuple[int, Any]]) -> None:
        """Keep all that someone is told at the beginning of a round: senders and messages, in order."""

    def asked(self, key: int, place: tuple[int, int], message: Any) -> None:
        """Keep a question that is taken up; `place` is (receiver, place among those of this round)."""

    def answered(
        self, key: int, place: tuple[int, int], message: Any, answer: Any, error: str | None
    ) -> None:
        """Keep a question with its answer, or with why there is none."""

    def called(self, place: tuple[int, str, int, int], first: int, call: Sequence[Any]) -> None:
        """Keep a call of an environment at its place, (number, name, group, round), as the first-th there."""

    def prefix(self, prefix_id: int, messages: tuple[Message, ...]) -> None:
        """Keep the leading messages of many prompts."""

    def form(self, form_id: int, form: Form) -> None:
        """Keep a form of answer."""

    def failure(self, key: int, kind: str, detail: str, action: str, traceback: str | None = None) -> None:
        """Keep one entry of the failure ledger."""

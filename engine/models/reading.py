"""From the text of a reply to an answer: strictly, else repaired, else with the reason why not."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from engine.models.answers import Answer, Problem, Unreadable
from engine.models.refusal import is_refusal
from engine.models.repair import candidates


class Asked(Protocol):
    """An answer as an agent asks for it."""

    def parse(self, text: str) -> Any:
        """Return the answer in a reply. Raises Unreadable."""


class Reading(NamedTuple):
    """An answer, and what had to be done to get it."""

    value: Any
    remark: Problem | None = None
    """What the ledger counts, although there is a value."""
    detail: str = ""


def read(asked: Asked, wire: Answer, text: str) -> Reading:
    """Return the answer in a reply; `wire` is the form that the model was asked for. Raises Unreadable."""
    try:
        return Reading(asked.parse(text))
    except Unreadable as unreadable:
        reason = unreadable
    if is_refusal(text):
        raise Unreadable(Problem.REFUSED, f"a refusal is no answer; {reason.detail}") from reason
    for candidate in candidates(wire, text):
        try:
            return Reading(asked.parse(candidate), Problem.REPAIRED, reason.detail)
        except Unreadable:
            continue
    raise reason

"""From the text of a reply to an answer: strictly, else repaired, else with the reason why not."""

from __future__ import annotations

from typing import Any, Protocol

from engine.models.answers import Answer, Problem, Unreadable
from engine.models.refusal import is_refusal
from engine.models.repair import candidates


class Asked(Protocol):
    """An answer as an agent asks for it."""

    def parse(self, text: str) -> Any:
        """Return the answer in a reply. Raises Unreadable."""


Reading = tuple[Any, Problem | None, str]
"""An answer, what the ledger counts although there is one, and a detail of that. A plain tuple, as one is
made of every reply: a named one takes ten times as long, 0.3 us."""


def read(asked: Asked, wire: Answer, text: str) -> Reading:
    """Return the answer in a reply; `wire` is the form that the model was asked for. Raises Unreadable."""
    try:
        return asked.parse(text), None, ""
    except Unreadable as unreadable:
        reason = unreadable
    if is_refusal(text):
        raise Unreadable(Problem.REFUSED, f"a refusal is no answer; {reason.detail}") from reason
    for candidate in candidates(wire, text):
        try:
            return asked.parse(candidate), Problem.REPAIRED, reason.detail
        except Unreadable:
            continue
    raise reason

"""What a reply holds, and what is said to the model about one that holds no answer."""

from __future__ import annotations

from typing import Any

from engine.agents.memory import Prompt, said
from engine.journal.storable import Value
from engine.models.answer_list import List
from engine.models.answers import (
    MAX_ANSWER_CHARS,
    Answer,
    Choice,
    Json,
    Number,
    Problem,
    Text,
    Unreadable,
    with_mark,
)
from engine.models.protocol import Finish, Result
from engine.models.reading import Reading, read

Asked = Answer | Json | List
"""What an agent may ask for."""

_PROBLEM_OF = {
    Finish.LENGTH: (Problem.TRUNCATED, "the reply was too long and was cut off; keep it shorter"),
    Finish.CONTEXT: (Problem.CONTEXT, "the conversation does not fit into the model's context"),
    Finish.TIMEOUT: (Problem.TIMED_OUT, ""),
    Finish.ERROR: (Problem.SERVER, ""),
}


def read_reply(answer: Asked, result: Result) -> Reading:
    """Return the answer that a reply holds, and what is to be said about it. Raises Unreadable."""
    if result.finish is not Finish.STOP and not (result.finish is Finish.LENGTH and isinstance(answer, Text)):
        problem, detail = _PROBLEM_OF[result.finish]
        raise Unreadable(problem, detail or result.text[:500])
    if len(result.text) > MAX_ANSWER_CHARS:
        raise Unreadable(Problem.OUT_OF_RANGE, f"the reply has {len(result.text)} characters; keep it short")
    reading = read(answer, wire(answer), result.text)
    if result.dropped and reading[1] is None:
        return reading[0], Problem.CONTEXT, f"the {result.dropped} oldest messages were left out"
    return reading


def wire(answer: Asked) -> Answer:
    """Return the form that the model is asked for."""
    return answer.wire if isinstance(answer, Json | List) else answer


def restored(answer: Asked, stored: Value) -> Any:
    """Return an answer as it was, from the form in which the journal keeps it."""
    return stored if isinstance(answer, (Number, Choice, Text)) else parsed(answer, str(stored))


def parsed(answer: Asked, conclusion: str) -> Any:
    """Read an answer that has no reasoning before it. Raises Unreadable."""
    return answer.parse(with_mark(wire(answer), conclusion))


def with_complaint(prompt: Prompt, reply: str, complaint: str) -> Prompt:
    """Return the conversation that quotes a bad reply and says what was wrong with it."""
    turns = (
        said("assistant", reply[:1000]),
        said("user", f"That does not answer the question: {complaint}."),
    )
    return Prompt(prompt.base, prompt.tail + turns)

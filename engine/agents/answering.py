"""An agent's turn of answering a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from engine.agents.calls import STEP_CALLS
from engine.agents.post import Question, Reply
from engine.agents.scheduler import Activation
from engine.keys import pack, unpack

if TYPE_CHECKING:
    from engine.agents.questions import Questions

_encode = msgspec.msgpack.Encoder().encode


class Answered:
    """What an agent has answered in a round."""

    __slots__ = ("n_calls", "n_questions", "round")

    def __init__(self, round_: int) -> None:
        self.round = round_
        self.n_questions = 0
        self.n_calls = 0


class Answering:
    """Owner of an activation that answers a question."""

    def __init__(self, questions: Questions, origin: int, question: Question, answered: Answered) -> None:
        self.group = question.group
        self.sent: dict[int, int] = {}
        self.origin = origin
        self.question = question
        self.message: Any = None
        self.answered = answered
        self.outstanding = 0
        self._questions = questions
        self._held: Reply | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Who answers, and which question of the round this is."""
        return self.question.receiver, self.answered.n_questions

    @property
    def first_key(self) -> int:
        """The key of the first call that is made while answering."""
        return pack(self.answered.round, self.question.receiver, STEP_CALLS + self.answered.n_calls)

    def release(self, reply: Reply) -> None:
        """Send the answer, but not before the questions that were asked for its sake are settled."""
        self._held = reply
        self.settle()

    def settle(self) -> None:
        """Send an answer that has waited for that."""
        if self._held is not None and not self.outstanding:
            self._questions.reply(self.origin, self._held)

    def returned(self, activation: Activation, value: Any) -> None:
        try:
            _encode(value)
        except (TypeError, ValueError, OverflowError) as error:
            self.raised(activation, error)
        else:
            self._end(activation, value, None)

    def raised(self, activation: Activation, error: BaseException) -> None:
        self._end(activation, None, refusal(activation.agent.id, error))

    def _end(self, activation: Activation, answer: Any, error: str | None) -> None:
        self.answered.n_calls = unpack(activation.key).call - STEP_CALLS
        self._questions.ended(self, answer, error)


def refusal(agent_id: int, error: BaseException) -> str:
    """Return what someone is told whose question made the asked agent raise."""
    return f"agent {agent_id} could not answer: {type(error).__name__}: {error}"

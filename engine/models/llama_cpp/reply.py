"""One reply as it is being written: what may come next, and whether it is finished.

A reply is free text, or an answer held to its form, or free reasoning followed by such an answer. Between the
last two stands the mark: the model writes it, or it is put there when the model wants to stop or has used up
its tokens for reasoning.
"""

from __future__ import annotations

import codecs

from engine.models.answers import MARK, Answer, JsonSchema, Text
from engine.models.grammar import longest_answer
from engine.models.llama_cpp.constraint import Forms
from engine.models.llama_cpp.model import Model
from engine.models.llama_cpp.sampling import Ids
from engine.models.protocol import Finish, Form

_MARK = MARK.encode()
_JSON_TOKENS = 256
"""Kept back for a JSON answer after reasoning; the schema does not tell how long it gets."""


class Reply:
    """Tokens and text so far, and the rules for the next token."""

    def __init__(self, form: Form, forms: Forms, model: Model, limit: int) -> None:
        """`limit` is the most tokens that the reply may have. Raises ModelError if the form is impossible."""
        self._form = form
        self._model = model
        self._limit = limit
        self._answer = forms.begin(form.answer)
        self._reasoning = reasoning_tokens(form.answer, limit)
        self._constraint = None if self._reasoning else self._answer
        self.tokens: list[int] = []
        self.data = b""
        self.wants_logprob = form.sampling.logprobs
        self.logprob = 0.0
        """Of all tokens so far; those that the form leaves no choice about have probability 1."""
        self.finish: Finish | None = None
        self._force()

    def copy(self) -> Reply:
        """Return one that goes on from here on its own."""
        other = Reply.__new__(Reply)
        other.__dict__.update(self.__dict__)
        other.tokens = self.tokens.copy()
        other._constraint = self._constraint and self._constraint.copy()
        return other

    @property
    def text(self) -> str:
        """The reply as text: a character cut in the middle is left out, broken bytes become U+FFFD."""
        return codecs.getincrementaldecoder("utf-8")("replace").decode(self.data, final=False)

    def allowed(self) -> Ids | None:
        """Return the tokens that may come next, None for any. Raises ModelError."""
        return None if self._constraint is None else self._constraint.allowed()

    def push(self, token: int) -> None:
        """Go on by the token that was drawn, and by all that are forced after it. Raises ModelError."""
        if self._constraint is not None:
            self._push_constrained(token)
        elif token in self._model.ends:
            self._end_free_text()
        else:
            self._append([token])
            self._watch()
        if self.finish is None and len(self.tokens) >= self._limit:
            self.finish = Finish.LENGTH

    def _push_constrained(self, token: int) -> None:
        assert self._constraint is not None
        self._constraint.accept(token)
        if token in self._model.ends:
            self.finish = Finish.STOP
            return
        self._append([token])
        self._force()

    def _force(self) -> None:
        """Write what the form leaves no choice about."""
        if self._constraint is None:
            return
        if not self._constraint.complete:
            forced = [token for token in self._constraint.forced() if token not in self._model.ends]
            for token in forced:
                self._constraint.accept(token)
            self._append(forced)
        if self._constraint.complete:
            self.finish = Finish.STOP

    def _watch(self) -> None:
        """Look for what ends free text: a stop text, the mark, the last token for reasoning."""
        for stop in self._form.sampling.stop:
            at = self.data.find(stop.encode(errors="replace"), max(0, len(self.data) - 4 * len(stop) - 64))
            if stop and at >= 0:
                self.data = self.data[:at]
                self._end_free_text()
                return
        if self._reasoning and self.data.rstrip().endswith(_MARK):
            self._begin_answer()
        elif self._reasoning and len(self.tokens) >= self._reasoning:
            self._end_free_text()

    def _end_free_text(self) -> None:
        if not self._reasoning:
            self.finish = Finish.STOP
            return
        self._append(self._model.tokenize(f"\n{MARK}").tolist())
        self._begin_answer()

    def _begin_answer(self) -> None:
        self._reasoning = 0
        self._constraint = self._answer and self._answer.copy()
        self._force()

    def _append(self, tokens: list[int]) -> None:
        self.tokens += tokens
        self.data += b"".join(map(self._model.piece, tokens))


def reasoning_tokens(answer: Answer, limit: int) -> int:
    """Return how many of `limit` tokens may go into free reasoning."""
    if isinstance(answer, Text) or not answer.reasoning:
        return 0
    return max(1, min(answer.reasoning, limit - answer_tokens(answer)))


def answer_tokens(answer: Answer) -> int:
    """Return how many tokens are kept for the mark and the answer after it."""
    if isinstance(answer, Text):
        return 0
    return len(_MARK) + 2 + (_JSON_TOKENS if isinstance(answer, JsonSchema) else longest_answer(answer))


def reply_tokens(form: Form) -> int:
    """Return the most tokens that a reply of this form can have, mark and reasoning included."""
    answer, limit = form.answer, form.sampling.max_tokens
    if isinstance(answer, Text | JsonSchema):
        return limit
    return min(limit, answer.reasoning + answer_tokens(answer))

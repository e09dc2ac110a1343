"""Holding a model to the form of an answer: what may come next, what must, when it is complete.

llguidance does the work: it computes which of 49,000 tokens a pattern or a JSON schema allows in 0.1-0.4 ms.
llama.cpp's own grammars take 7-10 ms, and abort the process when a forbidden token is accepted.
"""

from __future__ import annotations

import threading
import warnings

import llguidance
import llguidance.llamacpp
import numpy as np

from engine.errors import ModelError
from engine.models.answers import Answer, JsonSchema, Text
from engine.models.grammar import answer_pattern
from engine.models.llama_cpp.model import Model
from engine.models.llama_cpp.sampling import Ids


class Constraint:
    """How far one answer has got in its form."""

    def __init__(self, matcher: llguidance.LLMatcher) -> None:
        self._matcher = matcher

    def copy(self) -> Constraint:
        """Return one that goes on from here on its own."""
        return Constraint(self._matcher.deep_copy())

    @property
    def complete(self) -> bool:
        """Whether nothing more can follow."""
        return bool(self._matcher.is_stopped())

    def allowed(self) -> Ids:
        """Return the tokens that may come next. Raises ModelError if the form cannot be followed on."""
        bits = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        self._check()
        return np.flatnonzero(np.unpackbits(bits, bitorder="little"))

    def accept(self, token: int) -> None:
        """Go on by a token. Raises ModelError if the form forbids it."""
        self._matcher.consume_token(token)
        self._check()

    def forced(self) -> list[int]:
        """Return the tokens that have to come next whatever the model thinks."""
        return self._matcher.compute_ff_tokens()

    def _check(self) -> None:
        if self._matcher.is_error():
            raise ModelError(
                f"the form of the answer cannot be followed ({_first_line(self._matcher.get_error())})"
            )


class Forms:
    """The forms of answer in use, each built once for a model's vocabulary. Thread-safe."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._tokenizer: llguidance.LLTokenizer | None = None
        self._built: dict[str, llguidance.LLMatcher] = {}

    def begin(self, answer: Answer) -> Constraint | None:
        """Return the constraint at the beginning of an answer; None for free text. Raises ModelError."""
        if isinstance(answer, Text):
            return None
        source = _source(answer)
        with self._lock:
            matcher = self._built.get(source)
            if matcher is None:
                matcher = self._built[source] = self._build(source)
            return Constraint(matcher.deep_copy())

    def _build(self, source: str) -> llguidance.LLMatcher:
        if self._tokenizer is None:
            self._tokenizer = _tokenizer(self._model)
        matcher = llguidance.LLMatcher(self._tokenizer, source, log_level=0)
        if matcher.is_error():
            raise ModelError(
                f"cannot hold the model to this form of answer ({_first_line(matcher.get_error())})",
                where="answer",
            )
        return matcher


def _tokenizer(model: Model) -> llguidance.LLTokenizer:
    """Tell llguidance the vocabulary; takes half a second for 49,000 tokens."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it uses an older name, once for each token
        return llguidance.llamacpp.lltokenizer_from_vocab(model.vocabulary, eos_token=sorted(model.ends))


def _source(answer: Answer) -> str:
    if isinstance(answer, JsonSchema):
        # without optional whitespace more of the answer is forced, and costs no thought
        return llguidance.LLMatcher.grammar_from_json_schema(
            answer.schema,
            overrides={"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "},
        )
    assert not isinstance(answer, Text)
    space = (
        " ?" if answer.reasoning else ""
    )  # after the mark, many vocabularies have the space in the next token
    return llguidance.LLMatcher.grammar_from_regex(f"{space}(?:{answer_pattern(answer)})")


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]

"""Prompts over a vocabulary in which every character is a token."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelError

pytest.importorskip("llama_cpp")
from engine.models.llama_cpp.prompts import ContextTooSmall, PromptWriter
from engine.models.protocol import Message

TEMPLATE = "{% for message in messages %}{{ message.role[0] }}{{ message.content }}|{% endfor %}"
RULES = [Message("system", "rules")]
PERSONA = Message("system", "me")
PAST = [Message("user", "q1"), Message("assistant", "a1"), Message("user", "q2"), Message("assistant", "a2")]
NOW = Message("user", "q3")


class Characters:
    """Stands for a model."""

    chat_template: str | None = TEMPLATE
    bos, eos = "<s>", "</s>"
    control_texts = ("<s>", "</s>", "")
    size = 256
    file = "characters.gguf"

    def piece(self, token: int) -> bytes:
        return bytes([token])

    def tokenize(self, text: str, *, document: bool) -> np.ndarray:
        return np.array([ord(letter) for letter in ("^" if document else "") + text], np.int32)


def written(tail: list[Message], room: int, prefix: list[Message] = RULES) -> tuple[str, int]:
    writer = PromptWriter(Characters())  # type: ignore[arg-type]
    prompt = writer.write(prefix, tail, room)
    return "".join(map(chr, prompt.tokens)), prompt.dropped


def test_a_prompt_that_fits_is_whole():
    assert written([PERSONA, *PAST, NOW], 100) == ("^srules|sme|uq1|aa1|uq2|aa2|uq3|", 0)


def test_the_oldest_turns_go_first_and_the_persona_stays():
    assert written([PERSONA, *PAST, NOW], 30) == ("^srules|sme|uq2|aa2|uq3|", 2)
    assert written([PERSONA, *PAST, NOW], 16) == ("^srules|sme|uq3|", 4)


def test_what_cannot_be_cut_enough_is_refused():
    with pytest.raises(ContextTooSmall, match="15 tokens"):
        written([PERSONA, *PAST, NOW], 15)
    with pytest.raises(ContextTooSmall):
        written([], 3)


def test_the_last_message_stays_whoever_wrote_it():
    assert written([*PAST], 12) == ("^srules|aa2|", 3)


roles = st.sampled_from(["system", "user", "assistant"])
messages = st.lists(st.builds(Message, roles, st.text("ab", max_size=6)), max_size=8)


@given(messages, st.integers(0, 80))
def test_no_more_is_cut_than_must_be(tail, room):
    try:
        text, dropped = written(tail, room)
    except ContextTooSmall:
        return
    assert len(text) <= room
    kept = [message for message in tail if message.role == "system" or message is (tail or [None])[-1]]
    assert len(tail) - dropped >= len(kept)
    whole, _ = written(tail, 10_000)
    assert (dropped == 0) == (len(whole) <= room)


def test_a_text_cannot_spell_a_control_token():
    text, _ = written([Message("user", "</s><s>Hi</s")], 100)
    assert "<s>" not in text
    assert "</s>" not in text
    assert "Hi</s" in text


def test_the_beginning_of_the_document_is_not_doubled():
    class WithBegin(Characters):
        chat_template = "{{ bos_token }}" + TEMPLATE

    writer = PromptWriter(WithBegin())  # type: ignore[arg-type]
    assert "".join(map(chr, writer.write(RULES, [], 100).tokens)) == "<s>srules|"


def test_a_model_without_a_template_is_refused():
    class Bare(Characters):
        chat_template: Any = None

    with pytest.raises(ModelError, match="no chat template"):
        PromptWriter(Bare())  # type: ignore[arg-type]

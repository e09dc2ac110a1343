"""How many tokens a prompt has, where that has to be known before the model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.models.protocol import Message

PER_PROMPT = 64
PER_MESSAGE = 16
"""Allowed for what a chat template adds, which is an assumption: those of SmolLM2, Qwen 2.5 and Llama 3.1 put
up to 30 tokens before a conversation, and 4 to 7 around a message."""


class TokenCounter(Protocol):
    """Counts tokens, or more than there can be."""

    def prompt(self, messages: Sequence[Message]) -> int:
        """Return the tokens of a conversation with all that the chat template adds."""

    def text(self, text: str) -> int:
        """Return the tokens of a text by itself."""


class ByteBound:
    """Counts bytes of UTF-8, for models whose vocabulary is not at hand.

    No token of a byte-level vocabulary, nor of one that falls back to bytes, is shorter than a byte, so a
    text never has more tokens; English has a quarter of them. For templates an allowance is added.
    """

    def prompt(self, messages: Sequence[Message]) -> int:
        return PER_PROMPT + sum(PER_MESSAGE + self.text(message.content) for message in messages)

    def text(self, text: str) -> int:
        return len(text) if text.isascii() else len(text.encode(errors="replace"))

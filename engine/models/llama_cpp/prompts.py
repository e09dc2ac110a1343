"""From a conversation to the tokens of its prompt, cut by rule when it is too long."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from engine.errors import ModelError
from engine.models.chat_template import ChatTemplate
from engine.models.llama_cpp.batch import Tokens
from engine.models.llama_cpp.model import Model
from engine.models.protocol import Message


class ContextTooSmall(ModelError):
    """A prompt does not fit even without the agent's past."""


class Prompt(NamedTuple):
    """Tokens of a prompt, and how many of the agent's oldest messages had to go."""

    tokens: Tokens
    dropped: int


class PromptWriter:
    """Turns conversations into prompts of at most so many tokens as fit."""

    def __init__(self, model: Model) -> None:
        """Raises ModelError if the model file has no usable chat template."""
        if model.chat_template is None:
            raise ModelError(
                "the model file has no chat template, so how to talk to the model is unknown",
                where=str(model.file),
                hint='use an instruction-tuned ("instruct", "chat", "it") model',
            )
        self._model = model
        self._template = ChatTemplate(model.chat_template, model.bos, model.eos)
        spelt = sorted(filter(None, model.control_texts), key=len, reverse=True)
        self.control = re.compile("|".join(map(re.escape, spelt)) or r"(?!)")
        self._longest = max(len(model.piece(token)) for token in range(model.size))

    def write(self, prefix: Sequence[Message], tail: Sequence[Message], room: int) -> Prompt:
        """Return the prompt of a conversation in at most `room` tokens.

        If it is too long, the oldest turns of the tail are dropped, a user's message with the replies to it.
        The prefix, the tail's system messages (who the agent is) and its last message stay.
        Raises ContextTooSmall if that is still too long, ModelError if the template refuses.
        """
        starts = _turns(tail)
        if (tokens := self._fitting([*prefix, *tail], room)) is not None:
            return Prompt(tokens, 0)

        def shortened(start: int) -> Tokens | None:
            return self._fitting([*prefix, *_without(tail, start)], room)

        at = bisect_left(starts, True, key=lambda start: shortened(start) is not None)
        if at == len(starts) or (tokens := shortened(starts[at])) is None:
            raise ContextTooSmall(
                f"the prompt does not fit into {room} tokens even without the agent's earlier turns",
                where="model.context_tokens",
                hint="raise model.context_tokens, or shorten the rules, the persona or model.max_tokens",
            )
        return Prompt(tokens, len(tail) - len(_without(tail, starts[at])))

    def _fitting(self, messages: Sequence[Message], room: int) -> Tokens | None:
        if sum(len(message.content) for message in messages) > room * self._longest:
            return None  # too long for certain: not worth tokenising a megabyte
        text, document = self.text(messages)
        tokens = self._model.tokenize(text, document=document)
        return tokens if len(tokens) <= room else None

    def text(self, messages: Sequence[Message]) -> tuple[str, bool]:
        """Return a conversation as the template writes it, and whether the model's first token comes before.

        Raises ModelError if the template refuses.
        """
        text = self._template.render([self._defused(message) for message in messages])
        return text, not (self._model.bos and text.startswith(self._model.bos))

    def _defused(self, message: Message) -> Message:
        """Break up the spelling of control tokens: a text must not be able to end its own turn."""
        content = self.control.sub(lambda found: f"{found[0][0]}\u200b{found[0][1:]}", message.content)
        return message if content == message.content else Message(message.role, content)


def _turns(tail: Sequence[Message]) -> list[int]:
    """Where the tail may begin once it is cut: at a later message of the user, or at the last one."""
    return [n for n, message in enumerate(tail) if n > 0 and (message.role == "user" or n == len(tail) - 1)]


def _without(tail: Sequence[Message], start: int) -> list[Message]:
    return [message for n, message in enumerate(tail) if n >= start or message.role == "system"]

"""From a conversation to the text that a model was trained on, by the template that comes with the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.errors import ModelError
from engine.models.protocol import Message


class ChatTemplate:
    """A Jinja template from a model file, run in a sandbox because the file may come from anywhere."""

    def __init__(self, source: str, bos: str, eos: str) -> None:
        """`bos` and `eos` are the texts of the model's tokens for begin and end. Raises ModelError."""
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _tojson
        environment.globals["raise_exception"] = _refuse
        try:
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise ModelError(
                f"the chat template in the model file is broken ({error})", where="model"
            ) from error
        self._names = {"bos_token": bos, "eos_token": eos}

    def render(self, messages: Sequence[Message]) -> str:
        """Return the prompt that ends where the assistant's next reply begins.

        A template that refuses the conversation as it stands (no system role, strict alternation) is given it
        with the system text put before the first user message and neighbours of one role joined.
        Raises ModelError if it refuses that too.
        """
        try:
            return self._run(messages)
        except TemplateError:
            pass
        try:
            return self._run(alternating(messages))
        except TemplateError as error:
            raise ModelError(
                f"the model's chat template refuses the conversation ({error})",
                where="model",
                hint="it may want the first message to come from the user",
            ) from error

    def _run(self, messages: Sequence[Message]) -> str:
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            return self._template.render(messages=turns, add_generation_prompt=True, **self._names)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise TemplateError(f"{type(error).__name__}: {error}") from error


def alternating(messages: Sequence[Message]) -> list[Message]:
    """Return the conversation without a system role and with no two neighbours of one role."""
    turns: list[Message] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        if turns and turns[-1].role == role:
            turns[-1] = Message(role, f"{turns[-1].content}\n\n{message.content}")
        else:
            turns.append(Message(role, message.content))
    return turns


def _tojson(value: Any, indent: int | None = None) -> str:
    """Plain JSON: Jinja's own filter escapes for HTML, which no model was trained on."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)

"""From a request to the JSON that a server gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from engine.errors import ModelError
from engine.models.protocol import Catalogue, Form, Message
from engine.models.vllm.features import Features
from engine.models.vllm.forms import Part, first_part, second_part

OWN_FIELDS = frozenset(("model", "messages", "n", "seed", "stream", "max_tokens", "max_completion_tokens"))
"""What the backend decides itself, and a preset's `extra` cannot."""
MAX_PREFIXES = 4096

_json = msgspec.json.Encoder().encode


class Bodies:
    """Writes requests for servers with the same features. What requests share is written once."""

    def __init__(self, features: Features, catalogue: Catalogue, extra: dict[str, Any]) -> None:
        self._features = features
        self._catalogue = catalogue
        self._extra = extra
        self._head = b'{"model":%b,"messages":[' % _json(features.model)
        self._prefixes: dict[int, bytes] = {}
        self._parts: dict[tuple[int, bool], tuple[Part, bytes]] = {}

    def part(self, form: int, *, second: bool = False) -> Part:
        """Return what is asked for. Raises ModelError if the form of answer is impossible."""
        return self._part(form, second)[0]

    def write(
        self,
        prefix: int,
        form: int,
        tail: Sequence[Message],
        *,
        begun: str = "",
        seed: int = 0,
        n: int = 1,
        priority: int = 0,
    ) -> bytes:
        """Return the body of a request; with `begun`, for the second part of a reply.

        Raises ModelError if the form of answer is impossible.
        """
        turns = [self._prefix(prefix)] if self._catalogue.prefixes[prefix] else []
        turns += map(_turn, tail)
        if begun:
            turns.append(_turn(Message("assistant", begun)))
        features = self._features
        end = b'],"seed":%d' % seed if features.seed else b"]"
        if n > 1:
            end += b',"n":%d' % n
        if priority and features.priority:
            end += b',"priority":%d' % priority
        return b"%b%b%b%b" % (self._head, b",".join(turns), end, self._part(form, bool(begun))[1])

    def _part(self, form: int, second: bool) -> tuple[Part, bytes]:
        known = self._parts.get((form, second))
        if known is None:
            part = (second_part if second else first_part)(self._catalogue.forms[form], self._features)
            fields = _json(self._extra | part.fields)
            known = self._parts[form, second] = (part, b"," + fields[1:])
        return known

    def _prefix(self, prefix: int) -> bytes:
        text = self._prefixes.get(prefix)
        if text is None:
            if len(self._prefixes) >= MAX_PREFIXES:
                self._prefixes.clear()
            text = self._prefixes[prefix] = b",".join(map(_turn, self._catalogue.prefixes[prefix]))
        return text


def checked_extra(extra: dict[str, Any]) -> dict[str, Any]:
    """Return the preset's own fields. Raises ModelError if one of them is decided elsewhere."""
    taken = sorted(OWN_FIELDS & set(extra))
    if taken:
        raise ModelError(f"{', '.join(taken)} cannot be set here", where="model.extra")
    return extra


def sampling_of(form: Form) -> dict[str, Any]:
    """Return the sampling fields that not every server knows, as far as the form uses them."""
    sampling = form.sampling
    return {name: value for name in ("top_k", "min_p") if (value := getattr(sampling, name))}


def _turn(message: Message) -> bytes:
    return b'{"role":%b,"content":%b}' % (_json(message.role), _json(message.content))

"""Requests on their way to a model service, and what many of them have in common, which is sent once."""

from __future__ import annotations

from collections.abc import Iterable

from engine.agents.calls import ModelCall
from engine.agents.record import Record
from engine.agents.replies import Asked, wire
from engine.models.protocol import Form, Message, Request, RequestBatch, Sampling, content_id


class Requests:
    """The queue of one worker for one model."""

    def __init__(self, record: Record, sampling: Sampling) -> None:
        self._record = record
        self._sampling = sampling
        self._queue: list[Request] = []
        self._prefix_ids: dict[tuple[Message, ...], int] = {}
        self._form_ids: dict[Asked, int] = {}
        self._new_prefixes: dict[int, tuple[Message, ...]] = {}
        self._new_forms: dict[int, Form] = {}

    def __len__(self) -> int:
        """Return how many requests wait to be sent."""
        return len(self._queue)

    def file(self, call: ModelCall) -> None:
        """Give a call the ids of its leading messages and of its form."""
        base = call.prompt.base
        call.prefix = self._prefix_ids.get(base) or self._learn_prefix(base)
        call.form = self._form_ids.get(call.answer) or self._learn_form(call.answer)

    def add(self, request: Request) -> None:
        """Queue a request."""
        self._queue.append(request)

    def again(self, calls: Iterable[ModelCall]) -> None:
        """Queue every open call once more, for a service that has lost them."""
        self._queue = [call.request(call.encoded_tail()) for call in calls]
        self._new_prefixes = {prefix: base for base, prefix in self._prefix_ids.items()}
        self._new_forms = {form_id: self._form(answer) for answer, form_id in self._form_ids.items()}

    def drain(self) -> RequestBatch | None:
        """Return what is to be sent, or None."""
        if not self._queue:
            return None
        batch = RequestBatch(self._queue, self._new_prefixes, self._new_forms)
        self._queue, self._new_prefixes, self._new_forms = [], {}, {}
        return batch

    def _learn_prefix(self, base: tuple[Message, ...]) -> int:
        prefix = self._prefix_ids[base] = content_id(base)
        self._new_prefixes[prefix] = base
        self._record.prefix(prefix, base)
        return prefix

    def _learn_form(self, answer: Asked) -> int:
        form = self._form(answer)
        form_id = self._form_ids[answer] = content_id(form)
        self._new_forms[form_id] = form
        self._record.form(form_id, form)
        return form_id

    def _form(self, answer: Asked) -> Form:
        return Form(wire(answer), self._sampling)

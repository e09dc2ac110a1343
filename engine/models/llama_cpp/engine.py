"""A loaded model with its contexts and threads. Importing this loads the native library."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import psutil

from engine.errors import ModelError
from engine.machine import n_cores
from engine.models.llama_cpp.branch import Branch, Member
from engine.models.llama_cpp.constraint import Forms
from engine.models.llama_cpp.context import Context
from engine.models.llama_cpp.decoder import Decoder, Plan
from engine.models.llama_cpp.model import Model
from engine.models.llama_cpp.prompts import PromptWriter
from engine.models.llama_cpp.queue import Queue
from engine.models.protocol import Catalogue, Request, Result
from engine.models.settings import LlamaCpp

FIRST_CELLS = 512
"""Cells of a sequence to begin with; contexts grow when a conversation needs more."""

MEMORY_SHARE = 0.5
"""Of the memory that is free at the start, no more than this goes to KV cells."""

CACHE_SHARE = 0.25
"""And so much to those of conversations that wait for their next turn, if the preset does not say."""


class Engine:
    """Contexts over one model, each with its thread, fed from one queue."""

    def __init__(
        self, settings: LlamaCpp, model: Model, catalogue: Catalogue, seed: int, clock: Callable[[], float]
    ) -> None:
        """Start the threads; the model is closed with the engine, also if this fails. Raises ModelError."""
        limit = min(settings.context_tokens, model.trained_context)
        self._cache_bytes = cache_bytes(settings, 2 * limit * model.kv_bytes_per_token)
        self._queue = Queue(self._cache_bytes, cores(settings))
        self._contexts: list[Context] = []
        self._threads: list[threading.Thread] = []
        self._model = model
        try:
            writer = PromptWriter(model)
            self._sequences = affordable(
                settings.sequences, cores(settings), limit * model.kv_bytes_per_token
            )
            for _ in range(cores(settings)):
                cells = min(FIRST_CELLS, limit)
                context = Context(model, self._sequences, cells, reproducible=settings.reproducible)
                context.warm_up()
                self._contexts.append(context)
        except ModelError:
            self.close()
            raise
        self._plan = Plan(
            model, writer, Forms(model), self._queue, catalogue, seed, limit, settings.timeout_s, clock
        )
        for number, context in enumerate(self._contexts):
            decoder = Decoder(self._plan, context, number)
            thread = threading.Thread(target=decoder.run, name=f"llama.cpp context {number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def describe(self) -> dict[str, Any]:
        """Return what the manifest should say of the model as it is loaded."""
        return {
            "model": self._model.description,
            "contexts": len(self._contexts),
            "sequences": self._sequences,
            "context_tokens": self._plan.context_tokens,
            "state_cache_bytes": self._cache_bytes,
        }

    def put(self, requests: Iterable[Request], reply_to: Callable[[Result], None], now: float) -> None:
        """Take requests whose shared parts are known; each is answered once, in any thread."""
        members = (Member(request, reply_to, now) for request in requests)
        self._queue.put(members, self._plan.catalogue.forms)

    def close(self) -> list[Branch]:
        """Stop the threads, free all memory, and return what was never started."""
        left = self._queue.close()
        for thread in self._threads:
            thread.join()
        for context in self._contexts:
            context.close()
        self._model.close()
        return left


def cores(settings: LlamaCpp) -> int:
    """Return how many contexts decode side by side."""
    if settings.contexts is not None:
        return settings.contexts
    return n_cores()


def cache_bytes(settings: LlamaCpp, least: int) -> int:
    """Return the memory for what waits; less than two conversations would leave not even shared rules."""
    wanted = settings.state_cache_bytes
    return max(least, int(CACHE_SHARE * psutil.virtual_memory().available) if wanted is None else wanted)


def affordable(wanted: int, contexts: int, bytes_each: int) -> int:
    """Return how many sequences each context may have so that all fit into memory at full length."""
    budget = MEMORY_SHARE * psutil.virtual_memory().available
    return max(1, min(wanted, int(budget // (contexts * bytes_each))))

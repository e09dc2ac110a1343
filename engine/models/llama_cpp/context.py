"""One native context: a fixed number of sequences, each with a stream of KV cells of its own.

A context belongs to one thread and computes on it alone. Several contexts beat one with several threads
1.4 times on an idle machine, and many times on a busy one, because OpenMP threads wait for each other.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llama_cpp as native
import numpy as np
import numpy.typing as npt

from engine.errors import ModelError
from engine.models.llama_cpp.batch import Batch
from engine.models.llama_cpp.kv_cells import Bytes
from engine.models.llama_cpp.library import complaints
from engine.models.llama_cpp.model import Model

Floats = npt.NDArray[np.float32]

BATCH_TOKENS = 512
CELL_STEP = 256
"""llama.cpp pads the cells of a sequence to this."""

REPRODUCIBLE_TOKENS = 60
"""Computed at once in the reproducible mode. From 64 tokens on flash attention works in tiles, which round
differently (ggml-cpu/ops.cpp); 60 is as fast as more, and 15 % faster than 32 on long prompts."""


class Context:
    """Decodes batches for `sequences` conversations of up to `cells` tokens each."""

    def __init__(self, model: Model, sequences: int, cells: int, *, reproducible: bool) -> None:
        """Allocate the KV cells. Raises ModelError if llama.cpp cannot."""
        self._model = model
        self.sequences = sequences
        self.cells = padded(cells)
        self._reproducible = reproducible
        self.batch = Batch(BATCH_TOKENS)
        self._open: Any = self._create()
        if not native.llama_get_memory(self._open):
            self.close()
            raise ModelError(
                "this model keeps no state between tokens, so it cannot write", where=str(model.file)
            )

    def _create(self) -> Any:
        settings = native.llama_context_default_params()
        settings.n_ctx = self.sequences * self.cells
        settings.n_seq_max = self.sequences
        settings.n_batch = BATCH_TOKENS
        settings.n_ubatch = REPRODUCIBLE_TOKENS if self._reproducible else BATCH_TOKENS
        settings.flash_attn_type = int(self._reproducible)
        settings.n_threads = settings.n_threads_batch = 1
        settings.n_outputs_max = self.sequences
        settings.kv_unified = False
        settings.swa_full = True
        settings.no_perf = True
        complaints()
        handle = native.llama_init_from_model(self._model.handle, settings)
        if not handle:
            raise ModelError(
                f"no room for {self.sequences} conversations of {self.cells} tokens ({complaints()})",
                where="model",
                hint="lower model.sequences or model.context_tokens",
            )
        return handle

    @property
    def _handle(self) -> Any:
        if not self._open:  # a null pointer would end the process
            raise ModelError("this llama.cpp context is closed")
        return self._open

    @property
    def _memory(self) -> Any:
        return native.llama_get_memory(self._handle)

    def close(self) -> None:
        """Free the KV cells."""
        if self._open:
            native.llama_free(self._open)
            self._open = None

    def decode(self) -> None:
        """Compute the batch. Raises ModelError if llama.cpp refuses it; the cells are then undefined."""
        complaints()
        code = native.llama_decode(self._handle, self.batch.native())
        if code:
            raise ModelError(
                f"llama.cpp could not decode a batch (code {code}; {complaints() or 'no reason given'})"
            )
        native.llama_synchronize(self._handle)

    def warm_up(self) -> None:
        """Compute a token, so that the weights are in memory before the first request. Raises ModelError."""
        self.batch.clear()
        self.batch.add([0], 0, 0, logits=True)
        self.decode()
        self.clear(0)

    def logits(self, row: int) -> Floats:
        """Return the logits after a row of the batch just decoded; valid until the next one."""
        assert self.batch.wants(row)  # llama.cpp aborts the process, or returns nothing, for any other row
        found = native.llama_get_logits_ith(self._handle, row)
        return np.ctypeslib.as_array(found, shape=(self._model.size,))

    def clear(self, sequence: int) -> None:
        """Forget a sequence."""
        native.llama_memory_seq_rm(self._memory, sequence, -1, -1)

    def save(self, sequence: int) -> Bytes:
        """Return all that is kept of a sequence."""
        size = native.llama_state_seq_get_size(self._handle, sequence)
        block = np.empty(size, np.uint8)
        written = native.llama_state_seq_get_data(self._handle, _bytes_at(block), size, sequence)
        return block[:written]

    def restore(self, sequence: int, block: Bytes) -> bool:
        """Put back what was saved, into any sequence; tell whether llama.cpp took it."""
        taken = native.llama_state_seq_set_data(self._handle, _bytes_at(block), len(block), sequence)
        return bool(taken == len(block))

    def move(self, source: int, target: int) -> None:
        """Make one sequence another one. Raises ModelError."""
        if not self.restore(target, self.save(source)):
            raise ModelError(f"llama.cpp could not move a sequence ({complaints() or 'no reason given'})")
        self.clear(source)

    def grow(self, cells: int) -> None:
        """Give every sequence room for so many tokens, keeping what they hold.

        Raises ModelError if there is no memory for that; everything is as before then.
        """
        saved = [self.save(sequence) for sequence in range(self.sequences)]
        before = self.cells
        self.close()
        try:
            self.cells = padded(cells)
            self._open = self._create()
        except ModelError:
            self.cells = before
            self._open = self._create()
            raise
        finally:
            for sequence, block in enumerate(saved if self._open else ()):
                self.restore(sequence, block)


def padded(tokens: int) -> int:
    """Return how many cells llama.cpp allocates for so many tokens."""
    return -(-tokens // CELL_STEP) * CELL_STEP


def _bytes_at(block: Bytes) -> object:
    return block.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))

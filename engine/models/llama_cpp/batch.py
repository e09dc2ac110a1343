"""The batch handed to llama_decode, on numpy buffers: filled by slices instead of token by token."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import llama_cpp as native
import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.int32]


class Batch:
    """Up to `capacity` tokens of several sequences, and which of them need logits."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self._token = np.zeros(capacity, np.int32)
        self._position = np.zeros(capacity, np.int32)
        self._sequence = np.zeros(capacity, np.int32)
        self._one = np.ones(capacity, np.int32)
        self._wanted = np.zeros(capacity, np.int8)
        # seq_id is an array of pointers, one a token; they never change, so they are computed once
        addresses = self._sequence.ctypes.data + self._sequence.itemsize * np.arange(capacity, dtype=np.uintp)
        self._sequence_at = addresses.astype(np.uintp)
        self._native = native.llama_batch(
            n_tokens=0,
            token=_pointer(self._token, native.llama_token),
            embd=None,
            pos=_pointer(self._position, native.llama_pos),
            n_seq_id=_pointer(self._one, ctypes.c_int32),
            seq_id=_pointer(self._sequence_at, ctypes.POINTER(native.llama_seq_id)),
            logits=_pointer(self._wanted, ctypes.c_int8),
        )

    def clear(self) -> None:
        """Forget all tokens."""
        self.size = 0

    def add(self, tokens: Sequence[int] | Tokens, position: int, sequence: int, *, logits: bool) -> int:
        """Append consecutive tokens of one sequence; return the row of the last one.

        `logits` asks for the logits after that last token.
        """
        start, end = self.size, self.size + len(tokens)
        assert start < end <= self.capacity  # llama.cpp aborts the process on a batch that is too long
        self._token[start:end] = tokens
        self._position[start:end] = np.arange(position, position + end - start, dtype=np.int32)
        self._sequence[start:end] = sequence
        self._wanted[start:end] = 0
        self._wanted[end - 1] = logits
        self.size = end
        return end - 1

    def wants(self, row: int) -> bool:
        """Tell whether logits were asked for after this row."""
        return 0 <= row < self.size and bool(self._wanted[row])

    def native(self) -> native.llama_batch:
        """Return the struct for llama_decode; valid until the next change."""
        self._native.n_tokens = self.size
        return self._native


def _pointer(array: npt.NDArray[Any], of: Any) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(of))

"""Embeddings of texts by a GGUF model, computed in the process that asks for them."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.models.llama_cpp.embedded import model_path
from engine.models.llama_cpp.library import complaints, load_library

LONGEST = 512
"""Tokens of a text that are read; embedding models are trained with about as many."""


class LlamaEmbedder:
    """A model that turns texts into vectors. One thread, so that the same text always has the same vector.

    Nothing is loaded before the first text: contexts do not survive a fork.
    """

    def __init__(self, path: str) -> None:
        """Raises ModelError if there is no such file, or no llama.cpp."""
        load_library()
        self._file = model_path(path)
        if not self._file.is_file():
            raise ModelError(
                "there is no such file", where="memory.embedding_path", hint='a GGUF file, or "embedded"'
            )

    def __call__(self, text: str) -> NDArray[np.float64]:
        """Return the vector of a text, of length 1; of nothing, of length 0. Raises ModelError."""
        readable = text.encode(errors="replace").decode()
        if not self._model.tokenize(readable.encode()):  # llama.cpp does not survive a text without tokens
            return np.zeros(self._model.n_embd())
        vector = np.asarray(self._model.embed(readable))
        if vector.ndim == 2:  # a model that has a vector for each token, and no rule for the whole
            vector = vector.mean(axis=0)
        return vector / (np.linalg.norm(vector) or 1.0)

    @cached_property
    def _model(self) -> Any:
        import llama_cpp

        try:
            return llama_cpp.Llama(
                os.fspath(self._file),
                embedding=True,
                n_ctx=LONGEST,
                n_batch=LONGEST,
                n_ubatch=LONGEST,
                n_threads=1,
                n_threads_batch=1,
                verbose=False,
            )
        except (ValueError, OSError, RuntimeError) as error:
            raise ModelError(
                f"llama.cpp cannot make embeddings with this model ({complaints() or error})",
                where=str(self._file),
            ) from error

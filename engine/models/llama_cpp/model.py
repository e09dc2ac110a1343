"""The weights and the vocabulary of one GGUF file, read only and shared by every context."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import llama_cpp as native
import numpy as np

from engine.errors import ModelError
from engine.models.llama_cpp.batch import Tokens
from engine.models.llama_cpp.library import complaints


class Model:
    """A loaded model."""

    def __init__(self, file: Path, *, vocabulary_only: bool = False) -> None:
        """Map the weights into memory, unless the vocabulary will do.

        Raises ModelError if llama.cpp cannot use the file.
        """
        complaints()
        self.file = file
        parameters = native.llama_model_default_params()
        parameters.vocab_only = vocabulary_only
        self.handle = native.llama_model_load_from_file(os.fsencode(file), parameters)
        if not self.handle:
            raise ModelError(
                f"llama.cpp cannot load this model ({complaints() or 'no reason given'})", where=str(file)
            )
        self.vocabulary = native.llama_model_get_vocab(self.handle)
        self.size = native.llama_vocab_n_tokens(self.vocabulary)
        if not native.llama_model_has_decoder(self.handle) or native.llama_model_has_encoder(self.handle):
            self.close()
            raise ModelError("this is not a text-generating (decoder-only) model", where=str(file))
        every = range(self.size)
        self.ends = frozenset(token for token in every if native.llama_vocab_is_eog(self.vocabulary, token))
        control = native.LLAMA_TOKEN_ATTR_CONTROL
        self.control_texts = tuple(
            self.text_of(token)
            for token in every
            if native.llama_vocab_get_attr(self.vocabulary, token) & control
        )
        self._pieces: dict[int, bytes] = {}

    def close(self) -> None:
        """Unmap the weights; every context has to be closed before."""
        if self.handle:
            native.llama_model_free(self.handle)
            self.handle = None

    @property
    def chat_template(self) -> str | None:
        """The Jinja source of the default chat template, if the file has one."""
        source = native.llama_model_chat_template(self.handle, None)
        return source.decode(errors="replace") if source else None

    @property
    def trained_context(self) -> int:
        """How many tokens the model was trained to look back on."""
        return int(native.llama_model_n_ctx_train(self.handle))

    @property
    def kv_bytes_per_token(self) -> int:
        """Memory of one token's keys and values in half precision."""
        layers, width = native.llama_model_n_layer(self.handle), native.llama_model_n_embd(self.handle)
        heads, shared = native.llama_model_n_head(self.handle), native.llama_model_n_head_kv(self.handle)
        return int(2 * 2 * layers * width * shared // heads)

    @property
    def description(self) -> str:
        """Architecture, size and quantisation in llama.cpp's words."""
        text = ctypes.create_string_buffer(256)
        native.llama_model_desc(self.handle, text, len(text))
        return text.value.decode(errors="replace")

    def text_of(self, token: int) -> str:
        """Return how a token is spelt in the vocabulary, "" for none (-1)."""
        spelt = native.llama_vocab_get_text(self.vocabulary, token) if token >= 0 else b""
        return spelt.decode(errors="replace") if spelt else ""

    @property
    def bos(self) -> str:
        """The text of the token that begins a document."""
        return self.text_of(native.llama_vocab_bos(self.vocabulary))

    @property
    def eos(self) -> str:
        """The text of the token that ends a document."""
        return self.text_of(native.llama_vocab_eos(self.vocabulary))

    def tokenize(self, text: str, *, document: bool = False) -> Tokens:
        """Return the tokens of a text in which the spelling of control tokens means those tokens.

        `document` adds the token that begins a document, if the model wants one.
        """
        data = text.encode(errors="replace")  # a lone surrogate has no UTF-8 form
        room = len(data) + 8  # no token is shorter than a byte; the rest is for begin and end
        tokens = np.empty(room, np.int32)
        place = tokens.ctypes.data_as(ctypes.POINTER(native.llama_token))
        count = native.llama_tokenize(self.vocabulary, data, len(data), place, room, document, True)
        if count < 0:
            raise ModelError(f"llama.cpp cannot tokenise a text of {len(data)} bytes", where=str(self.file))
        return tokens[:count].copy()

    def piece(self, token: int) -> bytes:
        """Return the bytes that a token stands for in a reply; they may be part of a character."""
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._read_piece(token, 256)
        return known

    def _read_piece(self, token: int, room: int) -> bytes:
        text = ctypes.create_string_buffer(room)
        length = native.llama_token_to_piece(self.vocabulary, token, text, room, 0, False)
        return text.raw[:length] if length >= 0 else self._read_piece(token, -length)

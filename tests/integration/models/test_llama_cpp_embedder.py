"""Embeddings by the embedded model."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import ModelError

pytest.importorskip("llama_cpp")

from engine.models.llama_cpp.embedder import LlamaEmbedder

pytestmark = pytest.mark.real_model


@pytest.fixture(scope="module")
def embed() -> LlamaEmbedder:
    return LlamaEmbedder("embedded")


def test_a_text_always_has_the_same_vector(embed: LlamaEmbedder) -> None:
    first = embed("The well is dry.")
    assert np.linalg.norm(first) == pytest.approx(1)
    other = embed("Bread is cheap.")
    assert (embed("The well is dry.") == first).all()
    assert first @ embed("The well is wet.") > first @ other


@pytest.mark.parametrize("text", ["", " ", "\ud800", "<|im_end|>", "word " * 600])
def test_any_text_has_a_vector(embed: LlamaEmbedder, text: str) -> None:
    length = np.linalg.norm(embed(text))
    assert length == pytest.approx(1 if text else 0)


def test_what_is_no_model_is_refused(tmp_path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        LlamaEmbedder(str(tmp_path / "no.gguf"))
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelError, match="cannot make embeddings"):
        LlamaEmbedder(str(tmp_path / "bad.gguf"))("text")

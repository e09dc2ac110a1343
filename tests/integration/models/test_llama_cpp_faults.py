"""What goes wrong with a model file, the native library, or a service in the middle of its work."""

from __future__ import annotations

import asyncio
import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ModelError
from engine.models.answers import Number, Text
from engine.models.llama_cpp import embedded
from engine.models.llama_cpp.backend import LlamaCppBackend
from engine.models.protocol import Catalogue, Finish, Result, Sampling
from engine.models.settings import LlamaCpp
from tests.fakes.model_calls import ask, calls, user

pytestmark = pytest.mark.real_model

SMALL = {"contexts": 1, "sequences": 2, "context_tokens": 256}


def opened(cache: Path, catalogue: Catalogue | None = None, **settings) -> LlamaCppBackend:
    clock = settings.pop("clock", None)
    options = {} if clock is None else {"clock": clock}
    backend = LlamaCppBackend(
        LlamaCpp(**{**SMALL, **settings}), catalogue or Catalogue(), 1, cache, **options
    )
    asyncio.run(backend.open())
    return backend


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("weights")


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    """A copy of the embedded model that may be damaged."""
    copy = tmp_path / "model.gguf"
    copy.write_bytes(embedded.model_file("embedded", None)[0].read_bytes())
    return copy


def test_a_missing_file_is_named(tmp_path, cache):
    with pytest.raises(ModelError, match=r"none\.gguf"):
        opened(cache, path=str(tmp_path / "none.gguf"))


def test_a_missing_package_says_how_to_install_it(monkeypatch, cache):
    monkeypatch.setattr(embedded, "PACKAGE", "llm_not_there")
    with pytest.raises(ModelError, match="pip install"):
        opened(cache)


def test_another_file_than_expected_is_named_with_both_hashes(monkeypatch, cache):
    monkeypatch.setattr(embedded, "SHA256", "0" * 64)
    with pytest.raises(ModelError, match=r"b179c952.*not 0000") as caught:
        opened(cache)
    assert "pip install" in str(caught.value)
    assert embedded.FILE in str(caught.value)


def test_a_file_that_is_no_model_is_refused(tmp_path, cache):
    (tmp_path / "notes.gguf").write_text("notes")
    with pytest.raises(ModelError, match="not a GGUF"):
        opened(cache, path=str(tmp_path / "notes.gguf"))


@pytest.mark.parametrize("keep", [4, 100, 5_000, 2_000_000, 98_000_000])
def test_a_truncated_model_is_refused_quietly(gguf, cache, keep, capfd):
    os.truncate(gguf, keep)
    with pytest.raises(ModelError, match=r"model\.gguf"):
        opened(cache, path=str(gguf))
    assert capfd.readouterr() == ("", "")


def test_an_unknown_architecture_is_refused(gguf, cache):
    data = gguf.read_bytes()
    at = data.index(b"general.architecture") + len(b"general.architecture") + 4 + 8
    assert data[at : at + 5] == b"llama"
    gguf.write_bytes(data[:at] + b"lloma" + data[at + 5 :])
    with pytest.raises(ModelError, match="lloma"):
        opened(cache, path=str(gguf))


def test_a_model_without_a_chat_template_is_refused(gguf, cache):
    data = gguf.read_bytes()
    gguf.write_bytes(data.replace(b"tokenizer.chat_template", b"tokenizer.chat_templaxx", 1))
    with pytest.raises(ModelError, match="no chat template"):
        opened(cache, path=str(gguf))


def test_weights_that_cannot_be_kept_are_an_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match="XDG_CACHE_HOME"):
        opened(tmp_path / "file" / "cache")


def test_a_conversion_that_was_interrupted_is_done_again(cache, tmp_path):
    part = tmp_path / f"{embedded.SHA256}-q8_0.part"
    part.write_bytes(b"GGUF and then nothing")
    asyncio.run(opened(tmp_path).close())
    assert [file.suffix for file in sorted(tmp_path.iterdir())] == [".gguf", ".lock"]


def test_nothing_is_written_to_the_terminal(cache, capfd):
    catalogue = Catalogue()
    backend = opened(cache, catalogue)
    ask(backend, calls(catalogue, Number(0, 9), [user("A number!")]))
    asyncio.run(backend.close())
    assert capfd.readouterr() == ("", "")


def test_requests_still_open_are_answered_when_the_service_closes(cache):
    catalogue = Catalogue()
    backend = opened(cache, catalogue)
    requests = calls(
        catalogue, Text(), [user(f"Tell story {n}.") for n in range(5)], sampling=Sampling(max_tokens=200)
    )
    results: list[Result] = []

    async def close_early() -> None:
        backend.submit(requests, results.extend)
        await backend.close()
        await asyncio.sleep(0)

    asyncio.run(close_early())
    assert sorted(result.key for result in results) == [request.key for request in requests]
    assert {result.finish for result in results} == {Finish.ERROR}


def test_before_and_after_its_time_a_backend_refuses(cache):
    catalogue = Catalogue()
    requests = calls(catalogue, Number(0, 9), [user("A number!")])
    never = LlamaCppBackend(LlamaCpp(), catalogue, 1, cache)
    closed = opened(cache, catalogue)
    asyncio.run(closed.close())
    for backend in (never, closed):
        assert "not open" in ask(backend, requests)[0].text


def test_a_forked_copy_refuses_instead_of_hanging(cache, monkeypatch):
    catalogue = Catalogue()
    backend = opened(cache, catalogue)
    requests = calls(catalogue, Number(0, 9), [user("A number!")])
    with monkeypatch.context() as other_process:
        other_process.setattr(os, "getpid", lambda: 1)
        (result,) = ask(backend, requests)
    asyncio.run(backend.close())
    assert (result.finish, "fork" in result.text) == (Finish.ERROR, True)


def test_a_request_that_takes_too_long_times_out(cache):
    catalogue = Catalogue()
    ticks = itertools.count()
    backend = opened(cache, catalogue, timeout_s=30, clock=lambda: next(ticks) * 10.0)
    requests = calls(
        catalogue, Text(), [user("Tell a story."), user("And another.")], sampling=Sampling(max_tokens=99)
    )
    results = ask(backend, requests)
    asyncio.run(backend.close())
    assert {result.finish for result in results} == {Finish.TIMEOUT}


def test_a_batch_that_fails_costs_its_requests_and_no_more(cache, monkeypatch):
    from engine.models.llama_cpp.context import Context

    catalogue = Catalogue()
    backend = opened(cache, catalogue)
    requests = calls(catalogue, Number(0, 9), [user("A number!")])
    with monkeypatch.context() as broken:
        broken.setattr(Context, "decode", lambda self: (_ for _ in ()).throw(ModelError("no KV slot")))
        (failed,) = ask(backend, requests)
    (answered,) = ask(backend, requests)
    asyncio.run(backend.close())
    assert (failed.finish, "no KV slot" in failed.text) == (Finish.ERROR, True)
    assert answered.finish is Finish.STOP


def test_what_would_abort_the_process_is_stopped_before(cache):
    """Each of these, given to llama.cpp, ends the process or makes it return nothing."""
    from engine.models.llama_cpp.context import BATCH_TOKENS, Context
    from engine.models.llama_cpp.model import Model

    model = Model(embedded.model_file("embedded", None)[0])
    context = Context(model, 2, 256, reproducible=True)
    batch = context.batch
    with pytest.raises(AssertionError):
        batch.add([1] * (BATCH_TOKENS + 1), 0, 0, logits=True)
    row = batch.add([1, 2, 3], 0, 0, logits=True)
    context.decode()
    assert np.isfinite(context.logits(row)).all()
    for other in (row - 1, row + 1, -1):
        with pytest.raises(AssertionError):
            context.logits(other)
    block = context.save(0)
    assert not context.restore(1, block[:-1])
    assert not context.restore(1, np.zeros(100, np.uint8))
    assert context.restore(1, block)
    for token, position, sequence in ((model.size, 3, 0), (1, 9, 0), (1, 3, 7)):
        batch.clear()
        batch.add([token], position, sequence, logits=True)
        with pytest.raises(ModelError):
            context.decode()
    context.close()
    model.close()

"""Weights in the form that this machine computes fastest with, converted once and kept."""

from __future__ import annotations

import ctypes
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import llama_cpp as native

from engine.errors import ModelError
from engine.models.llama_cpp.library import complaints
from engine.models.llama_cpp.model import Model

LARGEST = 1 << 30
"""Bytes: beyond this, reading the weights limits the speed, and larger weights would cost what they save."""


def load(file: Path, sha256: str, cache_dir: Path) -> Model:
    """Load a model, in converted weights if that pays. Raises ModelError."""
    model = Model(file)
    if not pays(model):
        return model
    model.close()
    return Model(requantised(file, sha256, cache_dir))


def pays(model: Model) -> bool:
    """Tell whether the weights are worth converting.

    Q4_1 has no fast kernel for several tokens at once on x86: Q8_0, which holds the same values almost
    exactly, decodes 32 sequences 1.7 times as fast.
    """
    slow = native.llama_model_ftype(model.handle) == native.LLAMA_FTYPE_MOSTLY_Q4_1
    return bool(slow and native.llama_model_size(model.handle) <= LARGEST)


def requantised(file: Path, sha256: str, cache_dir: Path) -> Path:
    """Return the file with the same weights in Q8_0, made if it is not there yet. Raises ModelError.

    It is named after the hash of the file that it was made from. Processes that ask at once wait for one of
    them; a conversion that was interrupted leaves nothing behind that could be mistaken for a result.
    """
    target = cache_dir / f"{sha256}-q8_0.gguf"
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_suffix(".lock")):
            if not target.exists():
                _convert(file, target)
    except OSError as error:
        raise ModelError(
            f"cannot keep the converted weights ({error.strerror})",
            where=str(target),
            hint="make room there, or name another cache folder with the variable XDG_CACHE_HOME",
        ) from error
    return target


def _convert(file: Path, target: Path) -> None:
    part = target.with_suffix(".part")
    settings = native.llama_model_quantize_default_params()
    settings.ftype = native.LLAMA_FTYPE_MOSTLY_Q8_0
    settings.allow_requantize = True
    settings.nthread = 1
    complaints()
    code = native.llama_model_quantize(os.fsencode(file), os.fsencode(part), ctypes.byref(settings))
    if code:
        part.unlink(missing_ok=True)
        raise ModelError(
            f"llama.cpp cannot convert the weights ({complaints() or f'code {code}'})", where=str(file)
        )
    os.replace(part, target)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold a lock that ends with this process, however it ends."""
    with file.open("w") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield

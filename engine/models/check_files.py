"""Whether the files that a model's settings name are there, seen without loading anything."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from engine.errors import ModelError
from engine.models.llama_cpp.embedded import model_path
from engine.models.settings import LlamaCpp, ModelSettings, Vllm

HEADER = struct.Struct("<4sIQQ")
"""What each GGUF file begins with: magic, version, numbers of tensors and of metadata (ggml's gguf.md)."""
VERSIONS = (2, 3)
MOST = 1 << 20
"""No model has so many tensors or metadata."""


class Fault(NamedTuple):
    """A setting that names something unusable: its key, what is wrong, and what to do."""

    key: str
    what: str
    hint: str


def file_faults(settings: ModelSettings, environment: Mapping[str, str]) -> Iterator[Fault]:
    """Yield what a run with these settings would stop at: weights, keys and programs that are not there.

    Of weights only the header is read: that all of a file is there, and the right one, is seen when it is
    loaded.
    """
    match settings:
        case LlamaCpp():
            try:
                _read_header(model_path(settings.path))
            except ModelError as error:
                yield Fault("path", error.what, error.hint)
        case Vllm():
            yield from _server_faults(settings, environment)


def _read_header(file: Path) -> None:
    """Raises ModelError if this is no GGUF file."""
    hint = 'the path of a GGUF file, or "embedded"'
    try:
        with file.open("rb") as opened:
            start = opened.read(HEADER.size)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{str(file)!r} cannot be read ({reason})", hint=hint) from error
    if len(start) < HEADER.size:
        raise ModelError(f"{str(file)!r} is no GGUF file, or only the beginning of one", hint=hint)
    magic, version, n_tensors, n_metadata = HEADER.unpack(start)
    if magic != b"GGUF":
        raise ModelError(f"{str(file)!r} is no GGUF file", hint=hint)
    if version not in VERSIONS or not 0 < n_tensors < MOST or not 0 < n_metadata < MOST:
        raise ModelError(f"{str(file)!r} is a GGUF file that is damaged or of an unknown version", hint=hint)


def _server_faults(settings: Vllm, environment: Mapping[str, str]) -> Iterator[Fault]:
    from engine.models.vllm.credentials import api_key
    from engine.models.vllm.launch_plan import program

    try:
        api_key(settings, environment)
    except ModelError as error:
        key = "api_key_variable" if settings.api_key_variable else "api_key_file"
        yield Fault(key, error.what, "a variable that is set, or a file that holds the key")
    if settings.launch.model:
        try:
            program(settings.launch, environment)
        except ModelError as error:
            yield Fault("launch.environment", error.what, error.hint)

"""Loading llama-cpp-python, quietly."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from typing import Any

from engine.errors import ModelError
from engine.installation import how_to_install

_ERROR_LEVEL = 4  # ggml.h: GGML_LOG_LEVEL_ERROR

# llama.cpp has one logger per process and keeps the pointer, so the callback must live as long as this module
_complaints: deque[str] = deque(maxlen=8)
_callback: Any = None


def load_library() -> str:
    """Load the native library, keep it from writing to the terminal, and return its version.

    Raises ModelError if it is not installed or cannot run here.
    """
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # an abort would start a debugger on the terminal
    try:
        import llama_cpp as native
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelError(
            f"llama-cpp-python cannot be loaded ({error})",
            where="model.backend",
            hint=f"{how_to_install('llama')} (needs a C++ compiler and, on x86, a CPU with AVX2)",
        ) from error
    _silence(native)
    native.llama_backend_init()
    return str(native.__version__)


def complaints() -> str:
    """Return the last things that llama.cpp logged as errors, and forget them."""
    said = "; ".join(dict.fromkeys(_complaints))
    _complaints.clear()
    return said


def _silence(native: Any) -> None:
    global _callback  # noqa: PLW0603 - the native logger is global too
    if _callback is None:
        _callback = native.llama_log_callback(_note)
        native.llama_log_set(_callback, ctypes.c_void_p(0))


def _note(level: int, text: bytes, _data: object) -> None:
    if level == _ERROR_LEVEL:
        _complaints.append(text.decode(errors="replace").strip())

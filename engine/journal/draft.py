"""A file that appears when it is whole, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from engine.errors import SimtuiError, UsageError


@contextmanager
def draft(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file beside `path` that takes its place when the block ends, and goes when it raises.

    Raises UsageError if there is a file already and not `force`, SimtuiError for whatever the disk refuses.
    """
    _check(path, force)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _check(path, force)
        beside.replace(path)
    except OSError as error:
        raise SimtuiError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            hint="Free space there, make the folder writable, or name another place.",
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _check(path: Path, force: bool) -> None:
    if os.path.isdir(path):
        raise UsageError("is a folder", where=str(path), hint="Name a file.")
    if not force and os.path.lexists(path):
        raise UsageError(
            "there is such a file already", where=str(path), hint="--force replaces it; or name another."
        )

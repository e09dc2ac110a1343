"""`simtui export`: a table of a run as a file, or as text on standard output."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO

from app import figures, streams
from engine.errors import UsageError
from engine.journal.draft import draft
from engine.journal.export import Format, export
from engine.journal.run_directory import RunDirectory
from engine.journal.run_file import RunFile

DEFAULT_TABLE = "answers"


def to_file(run: RunDirectory, table: str, form: Format, path: Path, *, force: bool) -> str:
    """Write a table to a file that appears when it is whole; return what there is to say about it."""
    with RunFile(run.run_file) as file, _terminable(), draft(path, force=force) as out:
        n = export(file, table, form, out)
    return f"{figures.plural(n, 'row')}, {figures.size(path.stat().st_size)}: {path}"


def to_stdout(run: RunDirectory, table: str, form: Format, stdout: TextIO) -> None:
    """Write a table as text to a pipe or file; a reader that goes away ends it. Raises SimtuiError."""
    if not form.is_text:
        raise UsageError(f"{form} is not text", where="--format", hint="Name a file with --out.")
    if stdout.isatty():
        # Texts of models go out as they are, and could be control sequences.
        raise UsageError(
            "standard output is a terminal", where="export", hint="Name a file with --out, or use a pipe."
        )
    with RunFile(run.run_file) as file:
        try:
            export(file, table, form, stdout.buffer)
            stdout.buffer.flush()
        except BrokenPipeError:
            streams.silence(stdout)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block like an exception, so that it can clear up."""

    def end(signum: int, _frame: FrameType | None) -> None:
        sys.exit(128 + signum)

    before = {signum: signal.signal(signum, end) for signum in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)

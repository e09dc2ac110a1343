"""The standard streams, made fit for a long run.

A closed pipe or a lost terminal ends what is printed, but must not keep a run from its orderly end.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""A file takes no more, which is no reason to be silent about what was asked for."""


class Lasting:
    """A text stream that goes silent for good once its other end is gone.

    Raises OSError if standard output is a file that takes no more: half a result is none.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, unless the other end is gone."""
        try:
            return self._stream.write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Flush, unless the other end is gone."""
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        silence(self._stream)
        if error.errno in FULL and self._stream is sys.stdout:
            raise error

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def silence(stream: TextIO) -> None:
    """Let a stream whose other end is gone lead nowhere, so that nothing that writes to it fails again.

    The interpreter itself flushes the standard streams when it exits, and would complain.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def secure() -> None:
    """Make sure that descriptors 0 to 2 are open, and that no character can fail to be written.

    Started with one of them closed (`simtui >&-`), the run's database would get its number, and whatever is
    printed would land in the database.
    """
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(fd, True)
    os.close(fd)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def can_draw_blocks(stream: TextIO) -> bool:
    """Return whether the stream's encoding has block characters."""
    try:
        "█▏".encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True

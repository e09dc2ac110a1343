"""Errors on their way across a link."""

from __future__ import annotations

from traceback import format_exception

from engine.cluster.wire import Trouble
from engine.errors import SimtuiError


def trouble_of(error: BaseException) -> Trouble:
    """Pack an error; what was not raised on purpose keeps its traceback for the log."""
    if isinstance(error, SimtuiError):
        return Trouble(error.what, error.where, error.hint)
    return Trouble(
        f"{type(error).__name__}: {error}",
        hint="the traceback is in run.log of the run directory",
        traceback="".join(format_exception(error)),
    )

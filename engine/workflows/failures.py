"""What can go wrong with a call in another process, and the exception that it becomes where it is used."""

from __future__ import annotations

import builtins
import sys
import traceback
from functools import cache

import msgspec

from engine.errors import SimtuiError, UsageError


class Unsendable(UsageError):
    """A value has no form in which it could travel between processes unchanged."""


class RemoteError(SimtuiError):
    """A method raised in its process. It is also an instance of what was raised there, if that is known here.

    `remote_traceback` is the traceback there, as text; it is part of the traceback that Python prints.
    """

    remote_traceback = ""


class Failure(msgspec.Struct, array_like=True, gc=False):
    """A failure as it travels, in place of the value."""

    call: int
    """The call that failed first; those that depend on its value fail with it."""
    method: str
    module: str
    kind: str
    """The class of the exception: its qualified name within `module`."""
    message: str
    trace: str

    @classmethod
    def of(cls, error: BaseException, call: int, method: str) -> Failure:
        """Note an exception together with its traceback."""
        kind = type(error)
        trace = "".join(traceback.format_exception(error))
        message = error.what if isinstance(error, SimtuiError) else str(error)
        return cls(call, method, kind.__module__, kind.__qualname__, message, trace)

    def exception(self) -> RemoteError:
        """Make the exception to be raised where the value is used."""
        kind = _kind(self.module, self.kind)
        what = self.message or self.kind
        error = kind(what, where=self.method)
        error.remote_traceback = self.trace
        error.add_note(f"In the process of {self.method}:\n{self.trace}")
        return error


@cache
def _kind(module: str, name: str) -> type[RemoteError]:
    """Return a class that is a RemoteError and, where it can be, the class that was raised."""
    found = getattr(builtins if module == "builtins" else sys.modules.get(module), name, None)
    if not (isinstance(found, type) and issubclass(found, Exception)) or issubclass(found, RemoteError):
        return RemoteError
    try:
        kind = type(name, (RemoteError, found), {"__module__": module})
        kind("", where="", hint="")
    except Exception:  # some classes cannot be combined, or take arguments of their own
        return RemoteError
    return kind

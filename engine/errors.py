"""The exception tree: every error says what happened, where, and what to do about it."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What `simtui` returns to the shell."""

    DONE = 0
    """The run ended by its own rules."""
    FAILED = 1
    """The run failed: a process was lost, the failure budget was spent, the disk was full."""
    USAGE = 2
    """The command line or the preset is wrong; nothing was started."""
    BUDGET = 3
    """A budget (tokens, money, time) stopped the run; everything up to there is saved."""
    INTERRUPTED = 130
    """Someone stopped the run (Ctrl-C, SIGTERM, a closed terminal); everything up to there is saved."""


class SimtuiError(Exception):
    """Base of every error that simtui raises on purpose.

    `what` is one sentence, `where` names the file, key, process or agent, `hint` is the way out.
    """

    exit_code = ExitCode.FAILED

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  {self.hint}" if self.hint else head


class UsageError(SimtuiError):
    """The caller asked for something that cannot be done as asked."""

    exit_code = ExitCode.USAGE


class ModelError(SimtuiError):
    """A model cannot be loaded or reached."""


class WorkerLost(SimtuiError):
    """A worker process ended while the run still needed it."""


class ServiceLost(SimtuiError):
    """A model service ended while the run still needed it."""


class JournalError(SimtuiError):
    """The run file cannot be written or read."""


class FailureBudgetSpent(SimtuiError):
    """More agents failed than the preset allows."""

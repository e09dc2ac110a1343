"""Ctrl-C, SIGTERM and a closed terminal: the first asks the run to stop, one more Ctrl-C ends it at once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Catches the signals while entered; signals that were ignored before (nohup) stay ignored.

    The handler only notes the first signal, because it may interrupt any line of the main thread: whoever
    runs the loop looks at `reason` and acts. `kill` is called from the handler, for a loop that hangs.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.killed = False
        self.kill: Callable[[], None] | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        for signum in ASKING:
            if signal.getsignal(signum) != signal.SIG_IGN:
                self._before[signum] = signal.signal(signum, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)

    def _asked(self, signum: int, _frame: FrameType | None) -> None:
        if self.reason is None:
            self.reason = signal.Signals(signum).name
        elif signum == signal.SIGINT:
            if self.kill is None:
                raise KeyboardInterrupt
            self.killed = True
            self.kill()

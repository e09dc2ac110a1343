"""One server that the run has started: its processes, its log, and their end."""

from __future__ import annotations

import asyncio
import re
import signal
import threading
from pathlib import Path

from engine.models.vllm.launch_plan import Plan
from engine.models.vllm.wire import shown

GRACE_S = 20
"""How long a server may take to end by itself."""

KEEPER = """
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
{ read -r _; kill -TERM $server; sleep "$GRACE_S"; kill -KILL 0; } <&3 &
wait $server
echo "simtui: the server ended with exit code $?"
kill -KILL 0
"""
"""Runs the server in a process group of its own, and ends all of the group when the server ends, and when its
input ends: that is when simtui asks for it, and also when simtui is killed and can ask for nothing any more.
A vLLM whose first process is killed leaves its engine behind, and gigabytes with it."""

_CAUSE = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b: \S")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Replica:
    """A server that can be started, more than once."""

    def __init__(self, name: str, port: int, plan: Plan, log: Path) -> None:
        self.name = name
        self.port = port
        self.log = log
        self._plan = plan
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it. Raises OSError if the log cannot be written."""
        _pass_no_ignored_signals_on()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                KEEPER,
                "simtui-keeper",
                *self._plan.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._plan.variables | {"GRACE_S": str(GRACE_S)},
                start_new_session=True,
            )

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process is not None and self._process.returncode is None

    async def ended(self) -> None:
        """Wait until it has ended, all of it."""
        assert self._process is not None
        await self._process.wait()

    async def stop(self) -> None:
        """End it, and wait until it has ended."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()

    def last_lines(self, n: int) -> list[str]:
        """Return the end of its log, fit to be shown."""
        try:
            with self.log.open("rb") as log:
                log.seek(0, 2)
                log.seek(max(0, log.tell() - 50_000))
                text = log.read().decode(errors="replace")
        except OSError:
            return []
        lines = [shown(_COLOUR.sub("", line)) for line in text.splitlines()]
        return [line for line in lines if line][-n:]

    def why(self) -> str:
        """Return what its log says about its end: the causes, and the last lines."""
        lines = self.last_lines(2000)
        causes = list(dict.fromkeys(line for line in lines if _CAUSE.search(line)))[:3]
        return "\n  ".join([*causes, *(line for line in lines[-5:] if line not in causes)])


def _pass_no_ignored_signals_on() -> None:
    """Make ignored signals handled ones: a program that is started goes on to ignore only the former.

    A model service ignores what a terminal sends; a server has to hear what ends it.
    """
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, lambda *_: None)

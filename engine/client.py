"""Start a run in processes of its own and follow it; all that the command line and the terminal app know of
the engine's inside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import zmq

from engine.cluster.control import Command, Event, Finished, Stop, Watch
from engine.cluster.endpoints import Endpoints, new_folder
from engine.errors import ExitCode, JournalError, UsageError
from engine.journal.lock import Lock
from engine.journal.manifest import read_manifest, write_manifest
from engine.journal.run_directory import RunDirectory
from engine.preset.schema import Preset
from engine.scenarios import trusted

POLL_MS = 200
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""NumPy's threads spin while they wait for work; a run has a process a core, and no large matrices."""
TRACKER_SILENCE = "ignore::UserWarning:multiprocessing.resource_tracker"
"""After a SIGKILL of the coordinator, Python's tracker of semaphores tells of leaks that it mends itself."""
LOG_TAIL_CHARS = 2000


class RunClient:
    """A run that this process has started. Losing this process ends the run, with everything saved."""

    def __init__(
        self, directory: Path, endpoints: Endpoints, process: subprocess.Popen[bytes], lifeline: int
    ) -> None:
        self.directory = directory
        self._endpoints = endpoints
        self._process = process
        self._lifeline = lifeline
        self._killed = False
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.linger = 1000
        self._socket.connect(endpoints.control)
        self._events = msgspec.msgpack.Decoder(Event)
        self._send(Watch())

    def events(self) -> Iterator[Event]:
        """Yield what the run tells, a snapshot four times a second among it; the last one is Finished."""
        while True:
            if self._socket.poll(POLL_MS):
                event: Event = self._events.decode(self._socket.recv())
                yield event
                if isinstance(event, Finished):
                    break
            elif self._process.poll() is not None and not self._socket.poll(0):
                yield self._died()
                break
        self._close()

    def stop(self, reason: str) -> None:
        """Ask the run to end, keeping everything; `events` then goes on to Finished."""
        self._send(Stop(reason))

    def kill(self) -> None:
        """End the run at once; what the journal has committed stays. `events` notes it as interrupted."""
        self._killed = True
        self._process.kill()

    def _send(self, command: Command) -> None:
        self._socket.send(msgspec.msgpack.encode(command))

    def _died(self) -> Finished:
        if self._killed:
            _note_interrupted(RunDirectory(self.directory))
        code = self._process.returncode
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        tail = _tail(RunDirectory(self.directory).stderr)
        return Finished(
            "failed",
            ExitCode.FAILED,
            f"the coordinator {how}" + (f"; its last words:\n{tail}" if tail else ""),
            f"process {self._process.pid}",
            f"what had been journalled is in {self.directory}",
        )

    def _close(self) -> None:
        self._socket.close()
        self._context.term()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._lifeline)
        self._endpoints.remove()


def start(preset: Preset, preset_toml: str, directory: Path) -> RunClient:
    """Start a run in an existing, empty run directory, which gets the preset and the log of native output.

    Raises UsageError if the directory cannot be written.
    """
    return _launch("start", preset_toml, directory)


def resume(preset_toml: str, directory: Path) -> RunClient:
    """Go on with the run of a run directory, inside the round where it stood.

    `preset_toml` is its preset, in which engine, budget and journal settings may have changed. Raises
    UsageError if the directory cannot be written.
    """
    return _launch("resume", preset_toml, directory)


def replay(preset_toml: str, scratch: Path, run: Path) -> RunClient:
    """Run the agents of a run directory again, with its journal in place of any model.

    What is found goes into the journal of `scratch`, an empty directory. Raises UsageError if that cannot be
    written.
    """
    return _launch("replay", preset_toml, scratch, str(run))


def _launch(verb: str, preset_toml: str, directory: Path, *more: str) -> RunClient:
    paths = RunDirectory(directory)
    try:
        _replace(paths.preset, preset_toml.encode())
        log = paths.stderr.open("ab")
        code = [f"{trusted.OPTION}{file}" for file in trusted.keep(directory)]
    except OSError as error:
        raise UsageError(
            f"cannot write into the run directory: {error.strerror}",
            where=str(directory),
            hint="Free space there, make it writable, or name another place with --out.",
        ) from error
    endpoints = Endpoints.in_folder(new_folder())
    theirs, ours = os.pipe()
    os.set_inheritable(theirs, True)
    with log:
        process = subprocess.Popen(
            command(verb, str(directory), endpoints.folder, str(theirs), *more, *code),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[theirs],
            env={**_ONE_THREAD, **os.environ, "PYTHONWARNINGS": TRACKER_SILENCE},
            start_new_session=True,
        )
    os.close(theirs)
    return RunClient(directory, endpoints, process, ours)


def _note_interrupted(run: RunDirectory) -> None:
    """Say in the manifest, if there is one yet, what a coordinator that was killed could not."""
    with suppress(JournalError):
        lock = Lock(run.lock)
        write_manifest(read_manifest(run.manifest).ended_as("interrupted", datetime.now(UTC)), run.manifest)
        lock.release()


def _replace(path: Path, content: bytes) -> None:
    """Write a file as a whole, and not at all where nothing changes: a run may be under way on it."""
    if path.exists() and path.read_bytes() == content:
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)


def command(*arguments: str) -> Sequence[str]:
    """Return the command that runs the engine's own entry point: this program if frozen, else Python."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--engine", *arguments]
    return [sys.executable, "-m", "engine.cluster.main", *arguments]


def _tail(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[-LOG_TAIL_CHARS:].strip()
    except OSError:
        return ""

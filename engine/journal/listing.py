"""What can be said of a run at a glance: a few rows of its files, however large it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from engine.errors import JournalError, UsageError
from engine.journal.lock import holder
from engine.journal.manifest import Manifest, read_manifest
from engine.journal.reader import Reader
from engine.journal.rounds import ALL_GROUPS
from engine.journal.run_directory import RunDirectory
from engine.journal.run_file import RunFile
from engine.journal.usage import Usage, read_usage
from engine.keys import pack

DIED = "died"
"""The state of a run whose manifest says that it runs, though no process does."""

_LAST_ROUND = "SELECT round FROM rounds WHERE grp = ? ORDER BY round DESC LIMIT 1"
_BEGUN = "SELECT count(*) FROM replies WHERE key >= ? AND key < ? AND key & 4095 = 0"


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is, and what it took so far; None is unknown."""

    agents: int | None = None
    rounds: int | None = None
    """That the preset asks for."""
    rounds_done: int = 0
    share: float | None = None
    """Of the agents, those that have a reply in the round after the last one that is done."""
    models: list[str] = []
    """Backends, with the model's name where there are several."""
    usage: list[Usage] = []
    """Empty, too, for runs of versions that did not add it up."""


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """A run at a glance."""

    directory: Path
    manifest: Manifest
    state: str
    """As in the manifest, or "died"."""
    pid: int | None
    """The process that runs it; 0 if its number is unknown."""
    started: datetime
    """When it first started."""
    last_sign: datetime
    """When it ended, or last wrote."""
    bytes: int
    """What its directory takes."""
    progress: Progress

    @property
    def resumable(self) -> bool:
        """Whether it can go on."""
        return self.state not in ("running", "done")


def look_at(run: RunDirectory) -> Glance:
    """Look at a run. Raises JournalError if it is broken, or no run."""
    if not is_run(run.path):
        raise JournalError("this is not a run directory", where=str(run.path))
    if not any(map(os.path.isfile, (run.manifest, run.run_file))):
        raise JournalError(
            "this run has not begun, or was ended before it did",
            where=str(run.path),
            hint="If it is not about to begin, start it again from its preset.toml, or remove the folder.",
        )
    manifest = read_manifest(run.manifest)
    pid = holder(run.lock)
    died = manifest.state == "running" and pid is None
    started, last_sign = _times(run, manifest)
    return Glance(
        directory=run.path,
        manifest=manifest,
        state=DIED if died else "running" if pid is not None else manifest.state,
        pid=pid,
        started=started,
        last_sign=last_sign,
        bytes=sum(_stat(path)[0] for path in run.path.iterdir()),
        progress=_progress(run.run_file) if pid is None else _progress_now(run.run_file),
    )


def is_run(path: Path) -> bool:
    """Tell whether a folder has any of the files that make a run."""
    run = RunDirectory(path)
    return any(
        map(os.path.isfile, (run.run_file, run.manifest, run.preset))
    )  # unlike Path's, it never raises


def run_folders(folder: Path) -> Iterator[Path]:
    """Yield the folders in a folder, runs and others; or the folder alone, if it is a run.

    Raises UsageError if it cannot be listed.
    """
    try:
        if is_run(folder):
            yield folder
        else:
            yield from sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError as error:
        raise UsageError(
            f"cannot be listed: {error.strerror}", where=str(folder), hint="Name a folder of runs."
        ) from error


def _progress_now(path: Path) -> Progress:
    """Return how far a live run is, whose file may not be there yet."""
    try:
        return _progress(path)
    except JournalError:
        return Progress()


def _progress(path: Path) -> Progress:
    with Reader(path) as file, file.snapshot():
        facts = file.meta()
        known = {name: facts.get(name) for name in ("agents", "rounds")}
        (done,) = file.row(_LAST_ROUND, ALL_GROUPS) or (0,)
        parts = {"rounds_done": done, "models": _models(file), "usage": read_usage(file)}
        with file.reading():
            found = msgspec.convert({**known, **parts}, Progress)
        if found.agents and found.rounds_done != found.rounds:
            (begun,) = file.row(_BEGUN, pack(found.rounds_done + 1, 0), pack(found.rounds_done + 2, 0))
            found = msgspec.structs.replace(found, share=begun / found.agents)
        return found


def _models(file: RunFile) -> list[str]:
    rows = file.rows("SELECT name, backend FROM models ORDER BY id")
    return [str(backend) if len(rows) == 1 else f"{name}: {backend}" for name, backend in rows]


def _times(run: RunDirectory, manifest: Manifest) -> tuple[datetime, datetime]:
    """Return when a run started, and when it ended or last wrote."""
    try:
        started = datetime.fromisoformat(manifest.started).astimezone()
        if manifest.ended is not None:
            return started, datetime.fromisoformat(manifest.ended).astimezone()
    except (ValueError, OverflowError) as error:
        raise JournalError(f"the manifest has no such time: {error}", where=str(run.manifest)) from error
    written = (run.run_file, run.run_file.with_name(run.run_file.name + "-wal"), run.log, run.manifest)
    return started, datetime.fromtimestamp(max(_stat(path)[1] for path in written)).astimezone()


def _stat(path: Path) -> tuple[int, float]:
    """Return size and time of the last change, of a file that may go at any moment."""
    with suppress(OSError):
        found = path.stat()
        return found.st_size, found.st_mtime
    return 0, 0.0

"""What a branch shares with the runs that it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engine.journal.manifest import read_manifest
from engine.journal.run_directory import RunDirectory


class Shared(NamedTuple):
    """Rounds that were played by another preset than the run's own."""

    preset: Path
    """A copy of it in the run's directory."""
    last: int
    """The last of these rounds."""
    run: str
    """The directory of the run that played them."""


def shared_with(run: RunDirectory) -> list[Shared]:
    """Return what a run shares, in order of rounds; nothing if it is no branch. Raises JournalError."""
    found: list[Shared] = []
    parent = read_manifest(run.manifest).parent if run.before.exists() else None
    while parent is not None:
        found.insert(0, Shared(run.earlier(len(found)), parent.round, parent.run))
        parent = parent.parent
    return found

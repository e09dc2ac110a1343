"""Where a run goes: a directory of its own, claimed by making it."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import count
from pathlib import Path

import platformdirs

from engine.errors import UsageError
from engine.preset.schema import Preset


def claim(preset: Preset, out: str | None, now: datetime) -> Path:
    """Make the directory of a new run and return its absolute path.

    `out` is the directory itself and must not exist yet. Without it, a directory named after the preset and
    the time is made in the preset's `journal.directory`, or in the user's data folder. Making a directory
    either succeeds or finds it there, so no two runs share one. Raises UsageError.
    """
    if out is not None:
        wanted = Path(out).expanduser().absolute()
        if _made(wanted):
            return wanted
        raise UsageError(
            "this exists already, and a run needs a directory of its own",
            where=str(wanted),
            hint="name a directory that does not exist yet with --out",
        )
    folder = Path(preset.journal.directory or platformdirs.user_data_path("simtui") / "runs")
    stem = f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', preset.name)[:60].strip('.-') or 'run'}-{now:%Y%m%d-%H%M%S}"
    names = (stem if n == 1 else f"{stem}-{n}" for n in count(1))
    return next(path for name in names if _made(path := folder.expanduser().absolute() / name))


def released(directory: Path) -> bool:
    """Remove the directory of a run that never began; return False if something was written there."""
    try:
        directory.rmdir()
    except OSError:
        return False
    return True


def _made(path: Path) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir()
    except FileExistsError:
        if path.parent.is_dir():
            return False
        raise _unwritable(path, "a file is in the way") from None
    except (OSError, ValueError) as error:
        raise _unwritable(path, getattr(error, "strerror", None) or str(error)) from error
    return True


def _unwritable(path: Path, reason: str) -> UsageError:
    return UsageError(
        f"the run's directory cannot be made: {reason}",
        where=str(path),
        hint="choose another with --out DIR or --set journal.directory=DIR",
    )

"""The directory of a run: one run, one directory, never shared."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.errors import UsageError

_ATTEMPTS = 20
_NAME_CHARS = 60


@dataclass(frozen=True)
class RunDirectory:
    """Where the files of a run are."""

    path: Path

    @property
    def preset(self) -> Path:
        """The preset with every setting filled in."""
        return self.path / "preset.toml"

    @property
    def before(self) -> Path:
        """The preset of the rounds that a branch shares with its parent."""
        return self.earlier(0)

    def earlier(self, n: int) -> Path:
        """The same of the rounds that the parent shared with its own, and so on, counted back from 0."""
        return self.path / (f"before-{n + 1}.toml" if n else "before.toml")

    @property
    def run_file(self) -> Path:
        """The SQLite file."""
        return self.path / "run.db"

    @property
    def manifest(self) -> Path:
        """What it takes to reproduce the run."""
        return self.path / "manifest.json"

    @property
    def lock(self) -> Path:
        """Held by the process that writes here."""
        return self.path / "run.lock"

    @property
    def log(self) -> Path:
        """What the processes of the run logged."""
        return self.path / "run.log"

    @property
    def stderr(self) -> Path:
        """What native libraries printed."""
        return self.path / "stderr.log"


def default_parent() -> Path:
    """Return the folder of runs in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("simtui") / "runs"


def create_run_directory(
    parent: Path, preset_name: str, now: datetime, suffix: Callable[[], str] = lambda: secrets.token_hex(2)
) -> RunDirectory:
    """Make `<preset>-<YYYYmmdd-HHMMSS>-<suffix>` in `parent`, for the user alone. Raises UsageError."""
    name = f"{_file_name(preset_name)}-{now:%Y%m%d-%H%M%S}"
    for _ in range(_ATTEMPTS):
        path = parent / f"{name}-{suffix()}"
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700)
        except FileExistsError:
            if not parent.is_dir():
                raise _refusal(parent, "it is not a folder") from None
        except (OSError, ValueError) as error:
            raise _refusal(parent, _reason(error)) from error
        else:
            return RunDirectory(path)
    raise _refusal(parent, f"{_ATTEMPTS} runs have started in this second already")


def claim_run_directory(path: Path) -> RunDirectory:
    """Make a run directory of a path that does not exist or is an empty folder. Raises UsageError."""
    directory = RunDirectory(path)
    try:
        directory.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(directory.path.iterdir()):
            raise _refusal(path, "the folder is not empty")
        # Of two runs that see it empty, one makes this file. SQLite takes an empty file for a new database.
        directory.run_file.touch(exist_ok=False)
    except FileExistsError:
        taken = directory.path.is_dir()
        raise _refusal(path, "another run has it" if taken else "it is not a folder") from None
    except (OSError, ValueError) as error:
        raise _refusal(path, _reason(error)) from error
    return directory


def _reason(error: OSError | ValueError) -> str:
    """Return the cause without the path. A NUL character in a path is a ValueError."""
    return getattr(error, "strerror", None) or str(error)


def _refusal(where: Path, why: str) -> UsageError:
    return UsageError(
        f"cannot make a run directory: {why}",
        where=str(where),
        hint="Name another place: --out for this run, [journal] directory for all.",
    )


def _file_name(preset_name: str) -> str:
    """Return a preset's name as part of a file name, whatever it holds."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", preset_name).strip(".-")[:_NAME_CHARS] or "run"

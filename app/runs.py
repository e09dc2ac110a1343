"""Runs on disk: finding one by name or path, and what is needed to take it up again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UsageError
from engine.journal.listing import is_run, look_at
from engine.journal.lock import HOW_TO_GO_ON
from engine.journal.manifest import CHANGEABLE, read_manifest, settings_hash
from engine.journal.run_directory import RunDirectory, default_parent

if TYPE_CHECKING:
    from engine.preset.layers import Layer
    from engine.preset.load import Loaded


def find_run(name: str) -> RunDirectory:
    """Return the run of a path, of its run.db, or of a name in the usual place. Raises UsageError."""
    given = Path(name).expanduser()
    for path in (given, given.parent, default_parent() / name):
        found = RunDirectory(path.absolute())
        if is_run(found.path) and (path != given.parent or given.name == found.run_file.name):
            return found
    raise UsageError(
        "there is no such run",
        where=name,
        hint=f"Name a run directory, or a run in {default_parent()}.",
    )


def name_of(run: RunDirectory) -> str:
    """Return the shortest name that `find_run` takes for a run."""
    return run.path.name if run.path.parent == default_parent() else str(run.path)


def load_again(run: RunDirectory, sets: Sequence[str]) -> Loaded:
    """Return the preset of a run that can go on, with a few settings changed, of those that may.

    Raises SimtuiError.
    """
    from engine.preset import assignments
    from engine.preset.load import load

    _check_that_it_waits(run)
    _check_that_it_is_as_it_was(run)
    layer = layer_of(run)
    before = load([layer], str(run.preset)).preset
    loaded = load([layer, assignments.command_line(sets)], str(run.preset))
    for field in before.__struct_fields__:
        if field not in CHANGEABLE and getattr(before, field) != getattr(loaded.preset, field):
            raise UsageError(
                f"[{field}] cannot change in the middle of a run",
                where="--set",
                hint=f"a resumed run may change {' and '.join(CHANGEABLE)}; start a new run for the rest",
            )
    return loaded


def for_scratch(run: RunDirectory) -> Loaded:
    """Return the preset of a run for a repetition that is thrown away. Raises SimtuiError."""
    from engine.preset import assignments
    from engine.preset.load import load

    lean = assignments.command_line(["journal.transcripts=none", "journal.durability=os"])
    return load([layer_of(run), lean], str(run.preset))


def _check_that_it_waits(run: RunDirectory) -> None:
    glance = look_at(run)
    if glance.pid is not None:
        raise UsageError(
            f"process {glance.pid or 'unknown'} is running this run",
            where=str(run.path),
            hint=HOW_TO_GO_ON.format(pid=glance.pid or "PID"),
        )
    if glance.state == "done":
        name = name_of(run)
        raise UsageError(
            "this run is done",
            where=str(run.path),
            hint=f"`simtui show {name}` tells its results; `simtui branch {name}` goes on in another way.",
        )


def _check_that_it_is_as_it_was(run: RunDirectory) -> None:
    """Raise UsageError for a preset.toml that somebody has changed."""
    known = read_manifest(run.manifest).settings_sha256
    with suppress(OSError, ValueError):  # told when it is loaded
        if known and settings_hash(run.preset.read_bytes()) != known:
            raise UsageError(
                "this is not the preset that the run was made with",
                where=str(run.preset),
                hint=f"Put it back as it was. `simtui branch {name_of(run)} --set ...` goes on with another.",
            )


def settings_of(run: RunDirectory) -> dict[tuple[str, ...], Any]:
    """Return every setting of a run's preset by its key path. Raises SimtuiError."""
    return {setting.path: setting.value for setting in layer_of(run).settings}


def layer_of(run: RunDirectory) -> Layer:
    """Return the settings of a run's preset. Raises SimtuiError."""
    from engine.preset.toml_source import file_layer

    try:
        content = run.preset.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(run.preset)) from error
    return file_layer("run", str(run.preset), content)

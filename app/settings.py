"""Where the settings of a run are looked for: files, environment variables, command line."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from engine.preset.layers import Layer
    from engine.preset.load import Loaded

MAX_BESIDE = 1000
"""Files that are looked at for the one that was meant."""


def load(
    preset_name: str,
    sets: Sequence[str],
    *,
    environ: Mapping[str, str] = os.environ,
    user_config: Path | None = None,
) -> Loaded:
    """Return the preset of a name or path, as all layers together make it.

    `sets` are the texts of `--set`. `user_config` is the file that holds the user's own defaults; in the
    platform's usual place if not given, and it need not exist. Raises PresetError with all that is wrong.
    """
    from engine.preset import assignments
    from engine.preset.anchor import anchored
    from engine.preset.load import load as merge_and_check

    path = find_preset(preset_name)
    config = user_config or platformdirs.user_config_path("simtui") / "config.toml"
    layers = [
        *([_file_layer("user config", config)] if os.path.lexists(config) else []),
        _file_layer("preset", path),
        assignments.environment(environ),
        assignments.command_line(sets),
    ]
    loaded = merge_and_check(layers, str(path))
    return loaded._replace(preset=anchored(loaded.preset, path.parent))


def check_what_it_needs(loaded: Loaded, name: str, environ: Mapping[str, str] = os.environ) -> None:
    """Read the files that a preset names, and build its population. Raises PresetError with what is wrong.

    Of models, only what is on this machine is looked at, and that from outside.
    """
    from engine.cluster.memory import check_memory
    from engine.errors import UsageError
    from engine.models.check_files import file_faults
    from engine.population.check_data import data_faults
    from engine.population.faults import Fault
    from engine.preset.problems import PresetError, Problem

    preset = loaded.preset
    try:
        check_memory(preset)
        faults = list(data_faults(preset.population, preset.seed))
    except UsageError as error:
        faults = [Fault(("size",), error.what, error.hint)]
    found = [(("population", *fault.path), fault.what, fault.allowed) for fault in faults]
    models = {("model",): preset.model} | {("models", key): model for key, model in preset.models.items()}
    for place, model in models.items():
        for fault in file_faults(model, environ):
            found.append(((*place, *fault.key.split(".")), fault.what, fault.hint))
    problems = [
        Problem(where=loaded.merged.around(path).where or name, path=path, what=what, allowed=allowed)
        for path, what, allowed in found
    ]
    if problems:
        raise PresetError(name, problems)


def find_preset(name: str) -> Path:
    """Return the file of a preset: a path, or the bare name of a shipped one. Raises PresetError."""
    from engine.preset.problems import PresetError, Problem
    from engine.preset.wording import nearest, show

    path = Path(name)
    known = {path.stem: path for path in shipped()}
    if name in known and not os.path.isfile(name):
        return known[name]
    if os.path.lexists(name):
        return path
    near = nearest(path.name, (found.name for found in _presets_beside(path)))
    meant = f"{name}.toml" if os.path.isfile(f"{name}.toml") else str(path.with_name(near)) if near else ""
    meant = meant or nearest(path.stem, known)
    problem = Problem(
        what=f"there is no file {show(name)}",
        nearest=show(meant) if meant else "",
        allowed="a path, or a name that `simtui presets` lists",
    )
    raise PresetError(show(name), [problem])


def _presets_beside(path: Path) -> list[Path]:
    try:
        return sorted(path.parent.glob("*.toml"))[:MAX_BESIDE]
    except (OSError, ValueError):
        return []


def shipped() -> list[Path]:
    """Return the presets that come with simtui; their names are the stems."""
    here = Path(__file__).parent
    folder = here / "presets" if (here / "presets").is_dir() else here.parent / "presets"
    return sorted(folder.glob("*.toml"))


def _file_layer(name: str, path: Path) -> Layer:
    from engine.preset.problems import PresetError, Problem
    from engine.preset.toml_source import file_layer

    try:
        content = _read(path)
    except OSError as error:
        problem = Problem(where=str(path), what=f"cannot be read: {error.strerror}")
        raise PresetError(str(path), [problem]) from error
    return file_layer(name, str(path), content)


def _read(path: Path) -> bytes:
    from engine.preset.toml_source import MAX_BYTES

    # A pipe or device could block or never end; looked at before opening, for opening a pipe blocks too.
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise OSError(0, "a directory" if stat.S_ISDIR(mode) else "not a regular file")
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)

"""Scenarios in a file of the user's own: code, run only where the command line says that it is trusted.

The module's name holds the hash of the file, and a run keeps a copy under that name in its directory. So all
processes of a run execute what was trusted, whatever becomes of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from engine.errors import UsageError
from engine.scenarios.scenario import Scenario

PREFIX = "simtui_trusted_"
OPTION = "--trust="
"""What the processes of a run are told with."""
DIGITS = 32
"""Of the hash, in the module's name."""


def load(file: Path) -> None:
    """Execute a file; the scenarios in it can be named from then on. Raises UsageError."""
    content = _read(file)
    name = PREFIX + sha256(content).hexdigest()[:DIGITS]
    if file.stem.startswith(PREFIX) and file.stem != name:
        raise UsageError("this copy of a scenario has been changed", where=str(file), hint="Start a new run.")
    if name in sys.modules:
        return
    module = _module(name, file)
    try:
        exec(compile(content, str(file), "exec"), module.__dict__)  # noqa: S102  # --trust says so
    except BaseException as error:  # anything, sys.exit() too
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise UsageError(
            f"the scenario's file cannot be executed: {type(error).__name__}: {error}",
            where=_place(error, file),
            hint="Mend the file.",
        ) from error
    if not any(found.__module__ == name for found in _all()):
        del sys.modules[name]
        raise UsageError(
            "there is no scenario in this file",
            where=str(file),
            hint='It takes a subclass of simtui.Scenario whose Settings have a tag; "simtui new" writes one.',
        )


def _module(name: str, file: Path) -> ModuleType:
    spec = spec_from_file_location(name, file)
    assert spec is not None, "any file that ends in .py has one"
    sys.modules[name] = module_from_spec(spec)
    return sys.modules[name]


def _read(file: Path) -> bytes:
    if file.suffix != ".py":
        raise UsageError("a scenario's file ends in .py", where=str(file), hint="Name a Python file.")
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"the scenario's file cannot be read: {error.strerror}", where=str(file), hint="Name another one."
        ) from error


def _place(error: BaseException, file: Path) -> str:
    """Return the last line of the file that was on its way when it failed."""
    if isinstance(error, SyntaxError):
        return f"{file}:{error.lineno}"
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{file}:{line}" if line else str(file)


def scenarios() -> dict[str, type[Scenario]]:
    """Return the scenarios of all trusted files, by name."""
    return {found.Settings.__struct_config__.tag: found for found in _all()}  # type: ignore[misc]


def _all(parent: type[Scenario] = Scenario) -> Iterator[type[Scenario]]:
    for found in parent.__subclasses__():
        if found.__module__.startswith(PREFIX) and found.__module__ in sys.modules and _is_whole(found):
            yield found
        yield from _all(found)


def _is_whole(scenario: type[Scenario]) -> bool:
    return hasattr(scenario, "Settings") and isinstance(scenario.Settings.__struct_config__.tag, str)


def files() -> list[Path]:
    """Return the files that have been trusted."""
    modules = {found.__module__ for found in _all()}
    return sorted(Path(str(sys.modules[name].__file__)) for name in modules)


def digest(name: str) -> str | None:
    """Return the SHA-256 of the file that a scenario is from; None for one that is from no file."""
    found = scenarios().get(name)
    if found is None:
        return None
    return sha256(Path(str(sys.modules[found.__module__].__file__)).read_bytes()).hexdigest()


def keep(directory: Path) -> list[Path]:
    """Copy the trusted files into a run directory, under the names of their modules. Raises OSError."""
    kept = []
    for name in sorted({found.__module__ for found in _all()}):
        copy = directory / f"{name}.py"
        source = Path(str(sys.modules[name].__file__))
        if not copy.exists():
            copy.write_bytes(source.read_bytes())
        kept.append(copy)
    return kept

"""A hash of the code of a scenario, to tell whether it is still the one that a run was made with."""

from __future__ import annotations

import sys
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from engine.scenarios.scenario import Scenario


def code_hash(scenario: type[Scenario]) -> str:
    """Return the hash of the modules of a scenario and of all classes that it names, and of simtui's version.

    What these call in turn is not in it, nor are other packages; the manifest has their versions.
    """
    module = sys.modules[scenario.__module__]
    classes = [c for c in vars(module).values() if isinstance(c, type)]
    names = {c.__module__ for c in (*scenario.__mro__, *classes)}
    digest = sha256(_version().encode())
    for name in sorted(names):
        path = getattr(sys.modules.get(name), "__file__", None)
        if path and Path(path).is_file():
            digest.update(name.encode() + sha256(Path(path).read_bytes()).digest())
    return digest.hexdigest()


def _version() -> str:
    try:
        return metadata.version("simtui")
    except metadata.PackageNotFoundError:
        return "unknown"

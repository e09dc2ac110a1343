"""A package that offers a scenario, as pip would have installed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import unwrap
from pathlib import Path

import pytest

from engine.scenarios import registry

ROOT = Path(__file__).parents[2]


@contextmanager
def known(folder: Path, scenarios: Mapping[str, str]) -> Iterator[None]:
    """Let scenarios be known for a while, to this process without looking at all that is installed."""
    with pytest.MonkeyPatch.context() as patch:
        for name, target in scenarios.items():
            install(folder, name, target, patch)
        patch.setattr(registry, "BUILT_IN", {**registry.BUILT_IN, **scenarios})
        yield


def install(folder: Path, name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process and those that it starts find a scenario: `target` is "module:Class".

    Modules are looked for in `folder` and in the repository.
    """
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{name} = {target}\n")
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{ROOT}")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(registry, "installed", unwrap(registry.installed))  # what is cached is of before

"""Presets around scenarios that exist for tests alone."""

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from engine.preset import assignments
from engine.preset.load import Loaded, load
from engine.preset.problems import PresetError
from engine.preset.toml_source import file_layer
from engine.scenarios import registry
from tests.fakes.presets import Game, Muse

Load = Callable[..., Loaded]
Told = Callable[..., list[str]]


@pytest.fixture
def game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the scenarios "game" and "muse" known."""
    module = ModuleType("scenarios_under_test")
    module.Game, module.Muse = Game, Muse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(
        registry,
        "BUILT_IN",
        {"game": f"{module.__name__}:Game", "muse": f"{module.__name__}:Muse"},
    )


@pytest.fixture
def load_text(game: None) -> Load:
    """Load a preset from its text, with `--set` options, environment variables and a user config."""

    def loaded(text: str, *sets: str, environ: dict[str, str] | None = None, config: str = "") -> Loaded:
        layers = [
            file_layer("user config", "config.toml", config.encode()),
            file_layer("preset", "p.toml", text.encode()),
            assignments.environment(environ or {}),
            assignments.command_line(sets),
        ]
        return load(layers, "p.toml")

    return loaded


@pytest.fixture
def told(load_text: Load) -> Told:
    """Return the problems of a preset as lines of text; none if it loads."""

    def problems(*args: str, **kwargs: object) -> list[str]:
        try:
            load_text(*args, **kwargs)
        except PresetError as error:
            return [str(problem) for problem in error.problems]
        return []

    return problems

"""Which scenarios there are; each is imported only when it is asked for."""

from __future__ import annotations

from importlib import import_module

from engine.scenarios.scenario import Scenario

BUILT_IN = {"guess_average": "engine.scenarios.guess_average:GuessAverage"}


def names() -> list[str]:
    """Return the names a preset may use in `[scenario] name`."""
    return sorted(BUILT_IN)


def find(name: str) -> type[Scenario]:
    """Return the scenario class of that name. Raises KeyError."""
    module, _, attribute = BUILT_IN[name].partition(":")
    found: type[Scenario] = getattr(import_module(module), attribute)
    return found

"""Presets of the scenario for tests."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.models.settings import Dummy
from engine.preset.schema import Answers, Engine, Population, Preset
from engine.scenarios import registry
from tests.fakes.trial import CoupledSettings, TrialSettings

Presets = Callable[..., Preset]


@pytest.fixture
def presets(monkeypatch: pytest.MonkeyPatch) -> Presets:
    """Make presets: `act`, `rounds`, `groups`, ... are the scenario's, `engine` and `answers` the tables."""
    known = {"trial": "tests.fakes.trial:Trial", "coupled": "tests.fakes.trial:Coupled"}
    monkeypatch.setattr(registry, "BUILT_IN", known)

    def build(
        size: int,
        workers: int,
        *,
        engine: dict[str, Any] | None = None,
        answers: dict[str, Any] | None = None,
        coupled: bool = False,
        **scenario: Any,
    ) -> Preset:
        return Preset(
            name="trial",
            scenario=(CoupledSettings if coupled else TrialSettings)(**scenario),
            population=Population(size=size),
            model=Dummy(latency_s=0),
            answers=Answers(**(answers or {})),
            engine=Engine(workers=workers, **(engine or {})),
        )

    return build

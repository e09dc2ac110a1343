"""The scenario of dice, known to this process and to those that it starts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.scenarios import registry
from tests.fakes.packages import install

SCENARIOS = {
    "improvise": "tests.fakes.improvise:Improvise",
    "improvise_coupled": "tests.fakes.improvise:ImproviseCoupled",
}


@pytest.fixture(scope="package", autouse=True)
def improvise(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install it."""
    folder: Path = tmp_path_factory.mktemp("packages")
    with pytest.MonkeyPatch.context() as patch:
        for name, target in SCENARIOS.items():
            install(folder, name, target, patch)
        # In this process without looking at all that is installed, for each of hundreds of runs.
        patch.setattr(registry, "BUILT_IN", {**registry.BUILT_IN, **SCENARIOS})
        yield

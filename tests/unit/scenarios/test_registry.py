"""Scenarios of installed packages are found by name, and broken ones say which package to mend."""

from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.scenarios import registry
from engine.scenarios.guess_average import GuessAverage
from engine.scenarios.scenario import Scenario, ScenarioSettings
from tests.fakes.packages import install


class HuntSettings(ScenarioSettings, frozen=True, kw_only=True, tag="hunt"):
    """Nothing of its own."""


class Hunt(Scenario):
    Settings = HuntSettings


HERE = "tests.unit.scenarios.test_registry"


def test_a_package_can_offer_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "hunt", f"{HERE}:Hunt", monkeypatch)
    assert "hunt" in registry.names()
    assert registry.find("hunt").__name__ == "Hunt"


def test_a_package_cannot_replace_a_built_in_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "guess_average", f"{HERE}:Hunt", monkeypatch)
    assert registry.names().count("guess_average") == 1
    assert registry.find("guess_average") is GuessAverage


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        registry.find("hunt")


@pytest.mark.parametrize(
    ("name", "target", "why"),
    [
        ("hunt", "no_such_module:Hunt", "cannot be imported: ModuleNotFoundError"),
        ("hunt", f"{HERE}:Trap", "cannot be imported: AttributeError"),
        ("hunt", f"{HERE}:HuntSettings", "is not a subclass of simtui.Scenario"),
        ("chase", f"{HERE}:Hunt", 'has no Settings with tag="chase"'),
        ("hunt", "engine.scenarios.scenario:Scenario", 'has no Settings with tag="hunt"'),
    ],
)
def test_a_broken_one_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, target: str, why: str
) -> None:
    install(tmp_path, name, target, monkeypatch)
    with pytest.raises(UsageError) as caught:
        registry.find(name)
    assert f"scenario {name!r} {why}" in str(caught.value)
    assert f"{target} of the installed package {name}" in str(caught.value)

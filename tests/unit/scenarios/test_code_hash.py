"""The hash of a scenario's code changes with the code, and with nothing else."""

import importlib
import sys
from pathlib import Path

import pytest

from engine.scenarios.code_hash import code_hash

PEOPLE = "from simtui import Agent\nclass Person(Agent):\n    pass\n"
SCENARIO = "from simtui import Scenario\nfrom people_of_test import Person\nclass Town(Scenario):\n    pass\n"


def hash_of(folder: Path, monkeypatch: pytest.MonkeyPatch, people: str, scenario: str) -> str:
    folder.mkdir()
    (folder / "people_of_test.py").write_text(people)
    (folder / "town_of_test.py").write_text(scenario)
    with monkeypatch.context() as patched:
        patched.syspath_prepend(folder)
        for name in ("people_of_test", "town_of_test"):
            patched.delitem(sys.modules, name, raising=False)
        return code_hash(importlib.import_module("town_of_test").Town)


def test_it_covers_the_scenario_and_the_classes_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = hash_of(tmp_path / "1", monkeypatch, PEOPLE, SCENARIO)
    assert hash_of(tmp_path / "2", monkeypatch, PEOPLE, SCENARIO) == first
    assert hash_of(tmp_path / "3", monkeypatch, PEOPLE + "# other\n", SCENARIO) != first
    assert hash_of(tmp_path / "4", monkeypatch, PEOPLE, SCENARIO + "# other\n") != first

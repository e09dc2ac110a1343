"""docs/scenarios.md: its example runs as it stands, and it names all that authors and users can use."""

import json
import re
import tomllib
from pathlib import Path

import msgspec
import pytest

import simtui
from app import settings
from engine.scenarios import registry
from engine.scenarios.guess_average import GuessAverageSettings
from engine.scenarios.guess_average_rules import instructions
from tests.fakes.command_line import output_of, run_simtui
from tests.fakes.packages import install

DOC = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
USERS, AUTHORS = DOC.split("## Writing a scenario")
WORKFLOWS = (Path(__file__).parents[2] / "docs" / "workflows.md").read_text(encoding="utf-8")
ENVIRONMENTS = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")
BIRTHS = (Path(__file__).parents[2] / "docs" / "births.md").read_text(encoding="utf-8")
GAMES = (Path(__file__).parents[2] / "docs" / "games.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in f"{USERS}\n{GAMES}".split("\n## ")[1:]}
CODE, STATE = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)
PYPROJECT, PRESET = re.findall(r"```toml\n(.*?)```", DOC, re.DOTALL)


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The preset of the page, where the package of the page is installed."""
    (tmp_path / "my_ultimatum.py").write_text(CODE, encoding="utf-8")
    ((name, target),) = tomllib.loads(PYPROJECT)["project"]["entry-points"][registry.GROUP].items()
    install(tmp_path, name, target, monkeypatch)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "preset.toml"
    path.write_text(PRESET, encoding="utf-8")
    return str(path)


def test_the_example_runs(preset: str) -> None:
    record = json.loads(output_of("--run", preset, "--json", "--out", "run"))
    assert [round_["stats"] for round_ in record["rounds"]] == [
        {"offers": 50, "mean offer": 5.0, "accepted": 1.0}
    ] * 3
    assert record["failures"] == {}


def test_the_example_runs_on_random_answers_too(preset: str) -> None:
    changes = ("model.backend=dummy", "model.latency_s=0", "engine.start=inline")
    sets = [part for change in changes for part in ("--set", change)]
    record = json.loads(output_of("--run", preset, "--json", "--out", "run", *sets))
    stats = [round_["stats"] for round_ in record["rounds"]]
    assert [s["offers"] for s in stats] == [50] * 3
    assert all(3 < s["mean offer"] < 7 and 0.2 < s["accepted"] < 0.8 for s in stats)


def test_its_settings_are_checked_and_listed(preset: str) -> None:
    assert output_of("check", preset).startswith("OK: scenario my_ultimatum, 3 rounds, 100 agents")
    assert "pie = 10  " in output_of("scenarios")
    refused = run_simtui("check", preset, "--set", "population.size=7")
    assert refused.returncode == 2
    assert "7 agents in 1 groups" in refused.stderr


def test_every_public_name_is_explained() -> None:
    quoted = re.findall(r"`([^`\n]+)`", AUTHORS + ENVIRONMENTS + WORKFLOWS + BIRTHS)
    named = set(re.findall(r"\b[A-Za-z]+\b", " ".join(quoted)))
    assert set(simtui.__all__) - named == set()
    assert sorted(simtui.__all__) == simtui.__all__
    assert all(hasattr(simtui, name) for name in simtui.__all__)


def test_every_setting_and_its_default_are_there() -> None:
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (.*?) \|", USERS, re.MULTILINE)
    told = {}
    for keys, defaults in rows:
        told |= dict(zip(re.findall(r"`(\w+)`", keys), re.findall(r"`(.*?)`", defaults), strict=False))
    for field in msgspec.structs.fields(GuessAverageSettings):
        if field.name == "file":  # of own files alone
            continue
        assert tomllib.loads(f"x = {told[field.name]}")["x"] == field.default, field.name


@pytest.mark.parametrize("prompt", ["direct", "think", "rational", "strategic"])
def test_prompts_are_those_of_the_code(prompt: str) -> None:
    text = instructions(GuessAverageSettings(prompt=prompt), 100)  # type: ignore[arg-type]
    (quote,) = re.findall(r"^> (.*)$", USERS, re.MULTILINE)
    assert text.startswith(quote)
    cut = re.escape(" First think it through ...")
    (manner,) = re.findall(rf'^\| `"{prompt}"` \| P\d \| (.*?)(?:{cut})? \|$', USERS, re.MULTILINE)
    assert text.removeprefix(quote).strip().startswith(manner)


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_each_scenario_has_a_section_with_its_policies(name: str) -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", SECTIONS[name], re.MULTILINE))
    assert set(registry.find(name).policies) <= rows


def test_each_preset_is_in_the_section_of_its_scenario() -> None:
    for path in settings.shipped():
        name = tomllib.loads(path.read_text(encoding="utf-8"))["scenario"]["name"]
        assert f"\n| `{path.stem}` |" in SECTIONS[name], path.stem


def test_the_state_of_the_example_is_one() -> None:
    names = {"msgspec": msgspec, "Agent": simtui.Agent}
    exec(STATE, names)
    assert msgspec.structs.asdict(names["Trader"](0).state) == {"money": 100.0, "seen": []}  # type: ignore[operator]

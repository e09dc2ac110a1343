import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from app import settings
from app.presets_cli import check, schema
from engine.models.check_files import HEADER

TEXT = """\
name = "trial"
scenario.name = "guess_average"
population.size = 10
[model]
backend = "llama_cpp"
path = "x.gguf"
"""


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(settings.platformdirs, "user_config_path", lambda app: tmp_path / app)
    monkeypatch.chdir(tmp_path)
    Path("x.gguf").write_bytes(HEADER.pack(b"GGUF", 3, 200, 30))
    path = tmp_path / "p.toml"
    path.write_text(TEXT)
    return str(path)


def test_a_good_preset_is_summed_up(preset: str) -> None:
    result = CliRunner().invoke(check, [preset])
    assert (result.exit_code, result.stdout) == (
        0,
        "OK: scenario guess_average, 5 rounds, 10 agents, model llama_cpp\n",
    )


def test_a_bad_one_is_told_on_stderr_with_exit_code_2(preset: str) -> None:
    result = CliRunner().invoke(check, [preset, "--set", "engine.workrs=1", "--set", "population.size=0"])
    assert (result.exit_code, result.stdout) == (2, "")
    lines = result.stderr.splitlines()
    assert lines[0] == f"error: 2 problems in the settings given with preset {preset}"
    assert lines[1].startswith("  --set population.size: 0 is not allowed (allowed: a whole number from 1 to")
    assert lines[2].startswith("  --set engine.workrs: unknown key; did you mean engine.workers?")


def test_weights_that_are_not_there_are_told_with_file_and_key(preset: str) -> None:
    Path("x.gguf").unlink()
    result = CliRunner().invoke(check, [preset])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{preset}:6: model.path: 'x.gguf' cannot be read (No such file or directory)" in result.stderr


def test_origins(preset: str) -> None:
    options = ["--show-origin", "--set", "model.backend=dummy"]
    result = CliRunner().invoke(check, [preset, *options], env={"SIMTUI_ENGINE__WORKERS": "3"})
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[1] == f"not used: model.path ({preset}:6)"
    assert f"population.size = 10 {preset}:3" in lines
    assert 'model.backend = "dummy" --set model.backend' in lines
    assert "engine.workers = 3 SIMTUI_ENGINE__WORKERS" in lines
    assert "engine.window = 250000 default" in lines
    assert "journal.directory = not set default" in lines


def test_json_of_a_good_preset(preset: str) -> None:
    found = json.loads(CliRunner().invoke(check, [preset, "--json", "--set", "seed=7"]).stdout)
    assert found["ok"] is True
    by_key = {setting["key"]: setting for setting in found["settings"]}
    assert by_key["seed"] == {"key": "seed", "value": 7, "layer": "command line", "where": "--set seed"}
    assert by_key["engine.window"] == {
        "key": "engine.window",
        "value": 250_000,
        "layer": "default",
        "where": "",
    }


def test_json_of_a_bad_preset(preset: str) -> None:
    result = CliRunner().invoke(check, [preset, "--json", "--set", "engine.strt=spawn"])
    assert result.exit_code == 2
    (problem,) = json.loads(result.stdout)["problems"]
    assert (problem["where"], problem["key"]) == ("--set engine.strt", "engine.strt")
    assert (problem["what"], problem["nearest"]) == ("unknown key", "engine.start")
    assert problem["allowed"] == "workers, start, window, mailbox, deadline_s or failure_budget"


def test_a_missing_preset(preset: str) -> None:
    result = CliRunner().invoke(check, ["guess_avrage"])
    assert result.exit_code == 2
    assert 'there is no file "guess_avrage"; did you mean "guess_average"?' in result.stderr


def test_the_schema_is_json() -> None:
    result = CliRunner().invoke(schema)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["$ref"] == "#/$defs/Preset"


def test_what_the_preset_names_is_looked_at(preset: str) -> None:
    text = '[[population.tables]]\nattributes = ["sex"]\nfile = "no.csv"\n'
    Path(preset).write_text(Path(preset).read_text() + text)
    result = CliRunner().invoke(check, [preset])
    assert result.exit_code == 2
    assert "population.tables.1.file: " in result.stderr
    assert "cannot be read: No such file" in result.stderr
    found = json.loads(CliRunner().invoke(check, [preset, "--json"]).stdout)
    assert (found["ok"], found["problems"][0]["key"]) == (False, "population.tables.1.file")


def test_more_agents_than_fit_are_refused_with_what_they_would_take(preset: str) -> None:
    result = CliRunner().invoke(check, [preset, "--set", "population.size=2000000000"])
    assert result.exit_code == 2
    assert "--set population.size: 2,000,000,000 agents need about 800 GB of memory; " in result.stderr

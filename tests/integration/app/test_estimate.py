"""`simtui estimate` with real samples."""

import json
from pathlib import Path

import pytest

from app.estimate import run
from engine.errors import ExitCode

PRESET = """
name = "trial"
[scenario]
name = "guess_average"
rounds = 4
[population]
size = 500
[model]
backend = "dummy"
latency_s = 0
"""


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "samples"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "samples").mkdir()
    path = tmp_path / "trial.toml"
    path.write_text(PRESET)
    return path


def left_behind(preset: Path) -> list[str]:
    return [path.name for path in (preset.parent / "samples").iterdir() if "estimate" in path.name]


def test_the_figures_of_a_sample(preset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(preset), 10, [], as_json=True) == ExitCode.DONE
    told, narrated = capsys.readouterr()
    found = json.loads(told)
    assert found["calls"] == {"value": 2000, "low": 2000, "high": 2000}
    assert found["sample"]["n_agents"] == 10
    assert found["seconds"]["value"] > 0
    assert found["cost"] is None
    assert "10 agents, 3 rounds of 500 agents, 4 rounds" in narrated
    assert "mean" not in narrated, "the results of a sample mean nothing"
    assert left_behind(preset) == []


def test_the_table(preset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prices = ["model.price_in=1", "model.price_out=2"]
    assert run(str(preset), 10, prices, as_json=False) == ExitCode.DONE
    told = capsys.readouterr().out
    assert [line.split()[0] for line in told.splitlines()[3:6]] == ["time", "requests", "cost"]
    assert "any number of requests" in told


def test_a_sample_that_fails_is_kept_and_told(preset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = ["model.backend=llama_cpp", "model.path=no-such-file.gguf"]
    assert run(str(preset), 10, sets, as_json=True) == ExitCode.FAILED
    told, narrated = capsys.readouterr()
    assert told == ""
    assert "no-such-file.gguf" in narrated
    [folder] = left_behind(preset)
    assert folder in narrated.replace("\n", "")

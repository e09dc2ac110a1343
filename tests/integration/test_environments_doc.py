"""docs/environments.md: its example runs as it stands, and can be resumed and replayed."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.command_line import output_of, run_simtui
from tests.fakes.packages import install

DOC = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")
CODE, AGENDA = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)
(PRESET,) = re.findall(r"```toml\n(.*?)```", DOC, re.DOTALL)
(QUERY,) = re.findall(r"```sql\n(.*?)```", DOC, re.DOTALL)


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "my_market.py").write_text(CODE, encoding="utf-8")
    install(tmp_path, "my_market", "my_market:Shop", monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "preset.toml").write_text(PRESET, encoding="utf-8")
    return "preset.toml"


def test_the_example_runs_and_its_journal_says_how(preset: str) -> None:
    record = json.loads(output_of("--run", preset, "--json", "--out", "run"))
    assert len(record["rounds"]) == 4
    assert record["failures"] == {}
    with closing(sqlite3.connect("run/run.db")) as db:
        calls = list(db.execute(QUERY))
        stats = [json.loads(text) for (text,) in db.execute("SELECT stats FROM rounds WHERE grp = 0")]
    assert {method for _, _, _, method, *_ in calls} >= {"view", "buy", "wish", "subscribe", "unsubscribe"}
    for number, stat in enumerate(stats, start=1):
        bought = [
            json.loads(args)[0] for r, _, _, m, args, _, bad in calls if (r, m, bad) == (number, "buy", None)
        ]
        assert stat["sold"] == sum(bought) <= 30


@pytest.mark.parametrize("start", ["fork", "spawn", "inline"])
def test_a_replay_agrees_with_the_run(preset: str, start: str) -> None:
    output_of("--run", preset, "--out", "run", "--set", f"engine.start={start}", "--set", "scenario.groups=1")
    assert "same" in output_of("replay", "run")
    assert output_of("verify", "run")


def test_machines_act_when_they_are_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_machines.py").write_text(AGENDA, encoding="utf-8")
    install(tmp_path, "my_machines", "my_machines:Machines", monkeypatch)
    monkeypatch.chdir(tmp_path)
    preset = PRESET.replace("my_market", "my_machines").replace("groups = 2", "groups = 1")
    (tmp_path / "preset.toml").write_text(preset.replace("rounds = 4", "rounds = 30"), encoding="utf-8")
    record = json.loads(
        output_of("--run", "preset.toml", "--json", "--out", "run", "--set", "engine.workers=2")
    )
    stats = [round_["stats"] for round_ in record["rounds"]]
    times = [stat["next due"] for stat in stats]
    assert stats[0]["repairs"] == 40
    assert all(1 <= stat["repairs"] < 40 for stat in stats[1:])
    assert times == sorted(set(times))
    assert "same" in output_of("replay", "run")


def test_a_run_that_was_killed_goes_on_and_calls_nothing_twice(preset: str) -> None:
    """A budget stands for any death."""
    changes = ("scenario.groups=1", "model.latency_s=0.6", "budget.wall_s=1")
    stopped = run_simtui("--run", preset, "--out", "run", *(f"--set={change}" for change in changes))
    assert stopped.returncode == 3, stopped.stderr
    output_of("--resume", "run", "--set", "budget.wall_s=100")
    with closing(sqlite3.connect("run/run.db")) as db:
        keys = [key for (key,) in db.execute("SELECT key FROM environment_calls WHERE key IS NOT NULL")]
        turns = list(db.execute("SELECT name, grp, round, turn FROM environment_calls"))
    assert len(keys) == len(set(keys))
    assert len(turns) == len(set(turns))
    assert "same" in output_of("replay", "run")

"""docs/births.md: its example runs as it stands, and can be killed, resumed and replayed."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.command_line import output_of, run_simtui
from tests.fakes.packages import install

DOC = (Path(__file__).parents[2] / "docs" / "births.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)
(PRESET,) = re.findall(r"```toml\n(.*?)```", DOC, re.DOTALL)
(QUERY,) = re.findall(r"```sql\n(.*?)```", DOC, re.DOTALL)


def rows(query: str) -> list[tuple[int, ...]]:
    with closing(sqlite3.connect("run/run.db")) as db:
        return list(db.execute(query))


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "my_firms.py").write_text(CODE, encoding="utf-8")
    install(tmp_path, "my_firms", "my_firms:Firms", monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "preset.toml").write_text(PRESET, encoding="utf-8")
    return "preset.toml"


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_firms_come_and_go_the_same_on_any_number_of_workers(preset: str, workers: int) -> None:
    record = json.loads(
        output_of("--run", preset, "--json", "--out", "run", "--set", f"engine.workers={workers}")
    )
    lives = rows(QUERY)
    assert len(lives) == 39
    assert {parent >= 12 for _, parent, *_ in lives} == {True, False}, "branches found branches"
    assert any(left for *_, left in lives)
    acted = dict(rows("SELECT agent, max(round) FROM replies GROUP BY agent"))
    for agent, _, born, _, left in lives:
        assert acted.get(agent, 0) <= (left or 7) - 1
        assert rows(f"SELECT min(round) FROM replies WHERE agent = {agent}") in ([(born,)], [(None,)])
    assert record["rounds"][-1]["stats"] == {"firms": 31, "earned": 1478}
    assert output_of("verify", "run")
    assert "A new branch" not in output_of("show", "run", "0")
    assert f"{lives[0][3]}" in output_of("show", "run", str(lives[0][0]))


def test_a_run_that_was_stopped_goes_on_and_a_replay_agrees(preset: str) -> None:
    """A budget stands for any death; the random runs of test_any_order.py have real ones."""
    stopped = run_simtui(
        "--run", preset, "--out", "run", "--set=model.latency_s=0.6", "--set=budget.wall_s=1"
    )
    assert stopped.returncode == 3, stopped.stderr
    output_of("--resume", "run", "--set", "budget.wall_s=100")
    assert len(rows(QUERY)) == 39
    assert "same" in output_of("replay", "run")


def test_places_are_refused_where_nobody_can_be_born(preset: str) -> None:
    done = run_simtui("check", "guess_average", "--set", "population.births.per_group=3")
    assert done.returncode == 2
    assert "population.births.per_group" in done.stderr

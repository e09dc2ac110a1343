"""Runs that a budget stops, runs that go on from there, and runs held to a rate."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine import client
from engine.cluster.control import Finished, RoundReport
from engine.errors import ExitCode
from engine.models.settings import Dummy, LlamaCpp
from engine.preset.schema import Budget, Population, Preset
from engine.preset.write import to_toml
from engine.scenarios.guess_average import GuessAverageSettings
from tests.fakes.runs import Run, play, trial

pytestmark = pytest.mark.usefixtures("trial_scenario")


def stopped(run: Run, setting: str) -> None:
    last = run.finished
    assert (last.state, last.exit_code, last.where) == ("budget", ExitCode.BUDGET, setting)
    assert f"--set {setting}=" in last.hint
    assert run.query("SELECT kind FROM events ORDER BY id DESC LIMIT 1") == [("budget",)]


def with_budget(preset: Preset, **budget: Any) -> Preset:
    return msgspec.structs.replace(preset, budget=Budget(**budget))


@pytest.mark.parametrize("start", ["fork", "inline"])
def test_time_is_over(start: str, tmp_path: Path) -> None:
    preset = trial(8, 2, start=start, act="holds", when=2, rounds=3)
    run = play(with_budget(preset, wall_s=2), tmp_path / "run")
    stopped(run, "budget.wall_s")
    if run.reports:  # a slow machine does not get that far
        assert run.query("SELECT count(*) FROM replies") == [(8,)]


def test_too_many_replies_have_failed(tmp_path: Path) -> None:
    preset = trial(20, 2, policy="rubbish", answers={"retries": 0}, rounds=50)
    run = play(with_budget(preset, failures=100), tmp_path / "run")
    stopped(run, "budget.failures")
    [(failures,)] = run.query("SELECT count(*) FROM failures")
    assert 100 < failures < 50 * 20


def test_requests_are_held_to_a_rate(tmp_path: Path) -> None:
    preset = msgspec.structs.replace(
        trial(150, 2, rounds=1), model=Dummy(latency_s=0, requests_per_minute=6_000)
    )
    run = play(preset, tmp_path / "run")
    assert run.finished.state == "done"
    [(queued,)] = run.query("SELECT max(queued_s) FROM replies")
    assert queued == pytest.approx(0.5, abs=0.3), "a hundred at once, then a hundred a second"


@pytest.mark.real_model
def test_tokens_are_used_up_and_the_run_goes_on_with_more(tmp_path: Path) -> None:
    preset = Preset(
        name="trial",
        scenario=GuessAverageSettings(rounds=2),
        population=Population(size=8),
        model=LlamaCpp(max_tokens=16, price_in=1, price_out=2, currency="EUR"),
    )
    run = play(with_budget(preset, tokens=1000), tmp_path / "run")
    stopped(run, "budget.tokens")
    [(used, calls)] = run.query("SELECT sum(tokens_in + tokens_out), count(*) FROM replies")
    assert 750 < used <= 1000
    assert 0 < calls < 16

    events = list(client.resume(to_toml(with_budget(preset, tokens=20_000)), run.directory).events())
    assert isinstance(events[-1], Finished)
    assert events[-1].state == "done"
    assert run.query("SELECT count(*) FROM replies") == [(16,)], "nothing was asked for twice"
    [(cost, currency)] = run.query("SELECT sum(cost), currency FROM usage")
    reports = [event for event in events if isinstance(event, RoundReport)]
    assert sum(used.cost or 0 for report in reports for used in report.usage) == pytest.approx(cost)
    assert currency == "EUR"

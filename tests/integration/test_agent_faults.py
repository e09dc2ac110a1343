"""Agents and models that misbehave: recorded, counted, and without harm to the others."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.cluster.control import Finished
from tests.fakes.runs import Run, play, trial

pytestmark = pytest.mark.usefixtures("trial_scenario")

QUICK = {"deadline_s": 0.4, "failure_budget": 0.9}


def ledger(run: Run) -> list[tuple[Any, ...]]:
    return run.query("SELECT agent, round, kind, detail, action FROM failures ORDER BY key")


@pytest.mark.parametrize("start", ["inline", "fork", "spawn"])
def test_every_kind_of_failing_agent(start: str, tmp_path: Path) -> None:
    run = play(trial(12, 2, start=start, act="assorted", when=2, rounds=3, engine=QUICK), tmp_path / "run")
    assert run.finished.state == "done", run.finished
    found = ledger(run)
    assert [(agent, round_, kind) for agent, round_, kind, *_ in found] == [
        (0, 2, "exception"),
        (1, 2, "exception"),
        (2, 2, "deadline"),
        (3, 2, "deadline"),
        (4, 2, "wrong value"),
        (5, 2, "wrong value"),
    ]
    details = [detail for *_, detail, _ in found]
    assert details[0] == "LookupError: the victim's own fault"
    assert details[1] == "SystemExit: 7"
    assert "computed for more than 0.4 s" in details[2]
    assert "waited more than 0.4 s" in details[3]
    assert "'not a number'" in details[4]
    assert "(1000002 characters)" in details[5]
    assert {action for *_, action in found} == {"agent stopped"}
    tracebacks = run.query("SELECT traceback FROM failures ORDER BY key")
    assert "raise LookupError" in tracebacks[0][0]
    assert "while True" in tracebacks[2][0], "where it hung"
    assert [(report.n_answered, report.n_failed) for report in run.reports] == [(12, 0), (6, 6), (6, 6)]
    assert all((value is None) == (agent < 6) for row in run.values()[1:] for agent, value in enumerate(row))


@pytest.mark.parametrize("workers", [1, 2])
def test_agents_that_wait_for_each_other_are_told_at_once(workers: int, tmp_path: Path) -> None:
    """Long before the deadline, which is 300 s, nothing else is left to move."""
    run = play(trial(6, workers, act="embraces", rounds=1, engine={"failure_budget": 0.9}), tmp_path / "run")
    assert run.finished.state == "done", run.finished
    [values] = run.values()
    assert (values[0], values[-1]) == (-1, -1)
    assert {(agent, kind, detail) for agent, _, kind, detail, _ in ledger(run)} == {
        (0, "no answer", "agent 0 asks agent 5 asks agent 0: all wait for each other"),
        (5, "no answer", "agent 5 asks agent 0 asks agent 5: all wait for each other"),
    }


def test_who_tells_more_than_a_mailbox_holds_is_a_failed_agent(tmp_path: Path) -> None:
    limits = {"mailbox": 1, "failure_budget": 1.0}
    run = play(trial(12, 2, act="talks", rounds=2, engine=limits), tmp_path / "run")
    assert run.finished.state == "done"
    assert {(round_, kind) for _, round_, kind, *_ in ledger(run)} >= {(1, "exception"), (2, "undelivered")}
    assert all("MailboxFull: " in detail for _, round_, _, detail, _ in ledger(run) if round_ == 1)


def test_a_spent_budget_fails_the_run_and_names_the_way_out(tmp_path: Path) -> None:
    budget = {"failure_budget": 0.0}
    run = play(trial(6, 2, act="raises", victim=4, when=2, rounds=50, engine=budget), tmp_path / "run")
    assert run.finished == Finished(
        "failed",
        1,
        "1 of 6 agents have failed",
        "round 2",
        "engine.failure_budget = 0 allows 0; the table failures of run.db holds each traceback",
    )
    assert [row[:3] for row in ledger(run)] == [(4, 2, "exception")]
    assert run.query("SELECT round FROM rounds_overall WHERE round = 1") == [(1,)]


def test_a_reply_of_a_megabyte(tmp_path: Path) -> None:
    answers, journal = {"retries": 1}, {"max_text_chars": 500}
    run = play(
        trial(3, 1, start="inline", policy="megabyte", rounds=1, answers=answers, journal=journal),
        tmp_path / "run",
    )
    assert run.finished.state == "done"
    assert (run.reports[0].n_answered, run.reports[0].n_excluded) == (0, 3)
    assert [row[2:] for row in ledger(run)] == [
        ("out of range", "the reply has 1000000 characters; keep it short", "asked again"),
        ("out of range", "the reply has 1000000 characters; keep it short", "exclude"),
    ] * 3
    assert run.query("SELECT max(length(text)), max(length(messages)) < 3000 FROM replies") == [(1100, 1)]
    assert (tmp_path / "run" / "run.db").stat().st_size < 300_000


@pytest.mark.parametrize(
    ("answers", "value", "kind"),
    [
        ({"on_failure": "exclude"}, None, "exclude"),
        ({"on_failure": "fallback", "fallback": 42}, 42, "fallback"),
        ({"on_failure": "last"}, None, "last"),
    ],
)
def test_unusable_replies_under_each_policy(
    answers: dict[str, Any], value: float | None, kind: str, tmp_path: Path
) -> None:
    preset = trial(4, 1, start="inline", policy="rubbish", rounds=2, answers=answers | {"retries": 2})
    run = play(preset, tmp_path / "run")
    assert run.finished.state == "done"
    assert run.values() == [[value] * 4] * 2
    actions = [action for *_, action in ledger(run)]
    assert actions == ["asked again", "asked again", kind] * 8
    assert run.query("SELECT count(*), count(value), count(DISTINCT problem) FROM replies") == [(24, 0, 1)]
    asked = [
        json.loads(row[0]) for row in run.query("SELECT messages FROM replies WHERE agent = 0 AND round = 1")
    ]
    assert [len(messages) for messages in asked] == [1, 3, 5], "each time the bad reply is quoted"


@pytest.mark.parametrize("start", ["inline", "fork"])
def test_a_policy_to_fail_stops_the_run(start: str, tmp_path: Path) -> None:
    answers = {"on_failure": "fail", "retries": 0}
    run = play(trial(4, 2, start=start, policy="rubbish", answers=answers), tmp_path / "run")
    assert (run.finished.state, run.finished.exit_code) == ("failed", 1)
    assert "the model gave no acceptable answer (unparsed" in run.finished.what
    assert run.finished.where.endswith(", round 1")
    assert 'answers.on_failure = "fail"' in run.finished.hint
    assert run.query("SELECT count(*) > 0 FROM failures WHERE action = 'fail'") == [(1,)], (
        "it can be looked up"
    )
    assert run.query("SELECT count(*) > 0 FROM replies WHERE text = 'about forty'") == [(1,)]


def test_a_fallback_that_does_not_fit_stops_the_run(tmp_path: Path) -> None:
    answers = {"on_failure": "fallback", "fallback": 5000, "retries": 0}
    run = play(trial(2, 1, start="inline", policy="rubbish", answers=answers), tmp_path / "run")
    assert (run.finished.state, run.finished.where) == ("failed", "answers.fallback")
    assert "5000 is not from 0 to 999" in run.finished.what


# the scenario's own code


@pytest.mark.parametrize(
    ("start", "broken"),
    [
        ("fork", "__init__"),
        ("fork", "tally"),
        ("inline", "shared"),
        ("inline", "opening"),
        ("inline", "accept"),
        ("inline", "what tally returns"),
        ("inline", "conclude"),
    ],
)
def test_a_broken_scenario_fails_the_run_with_its_own_error(start: str, broken: str, tmp_path: Path) -> None:
    run = play(trial(4, 2, start=start, broken=broken), tmp_path / "run")
    assert (run.finished.state, run.finished.exit_code) == ("failed", 1)
    reason = "TypeError" if " " in broken else f"ZeroDivisionError: {broken} is broken"
    assert reason in run.finished.what
    assert "run.log" in run.finished.hint
    assert "Traceback" in (tmp_path / "run" / "run.log").read_text()


def test_a_scenario_that_breaks_while_agents_are_ended_fails_the_run(tmp_path: Path) -> None:
    """The last agent of the round ends by its deadline, not by a message from anywhere."""
    engine = {"deadline_s": 0.4, "failure_budget": 1.0}
    run = play(trial(2, 1, act="holds", broken="tally", engine=engine), tmp_path / "run")
    assert "ZeroDivisionError: tally is broken" in run.finished.what


def test_agents_that_cannot_be_made_are_failed_agents(tmp_path: Path) -> None:
    run = play(trial(4, 2, start="inline", broken="agent"), tmp_path / "run")
    assert run.finished.what.endswith("of 4 agents have failed")
    assert ledger(run)[0][3] == "ZeroDivisionError: agent is broken"

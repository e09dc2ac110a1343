import json

from app.record import Record
from engine.cluster.control import Finished, Usage
from engine.errors import UsageError
from engine.scenarios.scenario import Outcome
from tests.fakes.client import DONE, round_report, snapshot


def test_json_has_the_rounds_with_stats_and_splits() -> None:
    record = Record()
    for event in (snapshot(failures={"unparsable": 2}), round_report(), DONE):
        record.add(event)
    told = json.loads(record.as_json())
    assert (told["state"], told["exit_code"], told["error"]) == ("done", 0, None)
    assert told["failures"] == {"unparsable": 2}
    (first,) = told["rounds"]
    assert first["stats"]["mean"] == 41.234
    assert first["split"] == {
        "model_s": 11.9,
        "agents_s": 0.2,
        "messages_s": 0.1,
        "idle_s": 0.2,
        "journal_s": 0.35,
    }
    assert sum(first["histogram"]["counts"]) == 100
    assert (first["n_answered"], first["n_excluded"], first["seconds"]) == (98, 2, 12.4)


def test_json_has_tokens_and_the_result_without_affected_agents() -> None:
    record = Record()
    used = Usage("default", "", 98, 9800, 294, 4900, 0.015, "USD")
    record.add(round_report(usage=[used], n_affected=3, unaffected={"mean": float("nan"), "sd": 2.0}))
    record.add(snapshot(usage=[used]))
    told = json.loads(record.as_json())
    assert told["usage"] == told["rounds"][0]["usage"]
    assert told["usage"][0]["tokens_in"] == 9800
    assert told["usage"][0]["cost"] == 0.015
    assert told["rounds"][0]["n_affected"] == 3
    assert told["rounds"][0]["unaffected"] == {"mean": None, "sd": 2.0}


def test_json_is_valid_and_tame_whatever_is_in_it() -> None:
    record = Record()
    record.add(round_report(outcome=Outcome({"nan": float("nan"), "text": "\x1b[2J\x9b\u202e"})))
    record.add(Finished("failed", 1, "said \x1b]0;x\x07", "agent 3", "look"))
    text = record.as_json()
    assert text.isascii()
    assert text.isprintable()
    told = json.loads(text)
    assert told["rounds"][0]["stats"] == {"nan": None, "text": "\x1b[2J\x9b\u202e"}
    assert told["error"] == {"what": "said \x1b]0;x\x07", "where": "agent 3", "hint": "look"}


def test_an_error_before_the_run_is_its_last_word() -> None:
    record = Record()
    record.fail(UsageError("no such preset", where="x.toml", hint="simtui presets"))
    assert record.last_word() == Finished("failed", 2, "no such preset", "x.toml", "simtui presets")


def test_a_run_that_was_lost_gets_a_last_word() -> None:
    assert Record().last_word().exit_code == 1


def test_a_run_that_was_killed_on_request_did_not_fail() -> None:
    record = Record()
    record.add(Finished("failed", 1, "the coordinator was killed by SIGKILL"))
    record.interrupt()
    assert record.last_word() == Finished("interrupted", 130)

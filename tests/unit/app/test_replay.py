"""What a repetition of a run found, in words."""

import json
from pathlib import Path

import pytest

from app.replay import Divergence, Replay, _findings, replay
from engine.errors import UsageError
from engine.journal.batch import JournalBatch
from engine.journal.reader import Reader
from engine.journal.writer import Writer
from engine.keys import pack
from tests.fakes.journal import ended, reply
from tests.fakes.run_directories import make_run

THEN = '[["user","How much?"],["user","Now."]]'
NOW = '[["user","How many?"],["user","Now."]]'


def test_agreement_is_one_line() -> None:
    assert Replay(3, [], []).as_text(5) == "agrees: 3 rounds repeated, every prompt and every round the same"


def text_of(*calls: Divergence) -> list[str]:
    return Replay(1, [], list(calls)).as_text(5).splitlines()


def test_both_prompts_are_shown() -> None:
    shown = text_of(Divergence(2, 7, 0, json.loads(THEN), json.loads(NOW)))
    assert shown[:2] == ["differs: 1 calls, rounds none", "agent 7, round 2, call 0:"]
    assert "  -user: How much?" in shown
    assert "  +user: How many?" in shown
    assert "   user: Now." in shown


def test_a_call_that_is_new_or_gone() -> None:
    shown = text_of(Divergence(1, 1, 0, None, json.loads(NOW)), Divergence(1, 2, 0, json.loads(THEN), None))
    assert shown[2:5] == [
        "  the journal has no prompt for this call",
        "  + user: How many?",
        "  + user: Now.",
    ]
    assert shown[6:] == ["  is not made any more", "  - user: How much?", "  - user: Now."]


def test_equal_ends_after_other_shared_messages() -> None:
    shown = text_of(Divergence(1, 1, 0, json.loads(THEN), json.loads(THEN)))
    assert shown[2:] == ["  the shared messages before this prompt are not what they were"]


def test_a_long_list_is_cut_and_says_so() -> None:
    calls = [Divergence(1, agent, 0, None, None) for agent in range(8)]
    assert text_of(*calls)[-1] == "... and 3 more (--json has all)"
    assert len(Replay(1, [], calls).as_json()["diverged_calls"]) == 8


def test_hostile_prompts_are_made_harmless() -> None:
    shown = text_of(Divergence(1, 1, 0, None, [["user", "\x1b[2J\x07evil\u202e"]]))
    assert "evil" in shown[-1]
    assert not set("\x1b\x07\u202e") & set("".join(shown))


def test_what_differs_is_found_in_the_two_journals(tmp_path: Path) -> None:
    """Call 1.0 is as it was, 1.1 has another prompt, 1.2 is new, 1.3 gone; round 2 was not repeated."""
    run = make_run(
        tmp_path / "run",
        JournalBatch(
            [reply(1, agent, value=1.0, messages=THEN) for agent in (0, 1, 3)] + [reply(2, 0, value=1.0)]
        ),
        [ended(1)],
    )
    scratch = tmp_path / "scratch.db"
    writer = Writer(scratch)
    writer.add(
        JournalBatch(
            [reply(1, agent, value=1.0) for agent in (0, 1)],
            [(pack(1, agent), "diverged", NOW, None, "reported") for agent in (2, 1)],
        )
    )
    writer.event("diverged", "round 1")
    writer.close()
    with Reader(scratch) as found, Reader(run.run_file) as then:
        findings = _findings(found, then, 1)
    assert findings.rounds == [1]
    assert not findings.agrees
    assert findings.calls == [
        Divergence(1, 1, 0, json.loads(THEN), json.loads(NOW)),
        Divergence(1, 2, 0, None, json.loads(NOW)),
        Divergence(1, 3, 0, json.loads(THEN), None),
    ]


def test_a_run_without_a_finished_round_cannot_be_repeated(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no round of this run is finished"):
        replay(make_run(tmp_path / "run", state="interrupted"))

"""A sound run passes every check; a spoilt one fails the check that is about what was spoilt."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from engine.errors import JournalError, UsageError
from engine.journal.lock import Lock
from engine.journal.run_directory import RunDirectory
from engine.models.answers import Choice, JsonSchema, Number, Text
from engine.verify.check import MAX_NAMED, Check, Subject
from engine.verify.verify import TESTS, verify
from tests.fakes.played import play

Spoil = Callable[..., None]
Found = Callable[[], dict[str, Check]]
ROUNDS = (("10", "20", "no", "**60**"), ("10", "20", "90", None))


def checks(run: RunDirectory) -> dict[str, Check]:
    """Return the checks of a run by name."""
    return {check.name: check for check in verify(run)}


def wrong(found: dict[str, Check]) -> dict[str, list[str]]:
    """Return what is wrong, by check."""
    return {name: check.wrong for name, check in found.items() if check.state == "wrong"}


def change(run: RunDirectory, *statements: str) -> None:
    """Change a run file behind the back of everyone."""
    with closing(sqlite3.connect(run.run_file)) as connection, connection:
        for sql in statements:
            connection.execute(sql)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return play(tmp_path / "run", ROUNDS)


@pytest.fixture
def spoil(run: RunDirectory) -> Spoil:
    return partial(change, run)


@pytest.fixture
def found(run: RunDirectory) -> Found:
    """Verify, and return the checks by name."""
    return lambda: checks(run)


N_CHECKS = 13


VALUES, PROMPTS = "values are what the replies say", "prompts are what was sent"
SHARED, REFERENCES = "prefixes and forms are what they were", "models, prompts and forms of replies are there"
TOTALS, MANIFEST = (
    "as many replies and tokens as were written",
    "manifest, preset and database are of one run",
)
ROUNDS_ADD_UP, AGREE = "counts of rounds add up", "replies, rounds and failures agree"
SCHEMA = "tables and views are as documented"

FIRST = "WHERE agent = 0 AND round = 1"
UNPARSED = "WHERE agent = 2 AND round = 1"

SPOILT = {
    VALUES: {
        f"UPDATE replies SET value = 11.0 {FIRST}": "call 0: the text gives 10.0, the file has 11.0",
        f"UPDATE replies SET value = '10' {FIRST}": "the file has '10'",
        f"UPDATE replies SET value = 5.0 {UNPARSED}": "the text gives no value (unparsed), the file has 5.0",
        "UPDATE replies SET problem = NULL WHERE agent = 3": "60.0 (repaired), the file has 60.0",
        f"UPDATE replies SET finish = 'length' {FIRST}": "no value (truncated)",
        f"UPDATE replies SET finish = 'luck' {FIRST}": "unknown",
    },
    PROMPTS: {
        f"UPDATE replies SET messages = replace(messages, 'which', 'what') {FIRST}": "agent 0, call 0",
        f"UPDATE replies SET messages = '[' {FIRST}": "round 1, agent 0, call 0",
        f"UPDATE replies SET prefix = 5 {FIRST}": "round 1, agent 0, call 0",
    },
    SHARED: {
        "UPDATE prefixes SET messages = replace(messages, 'number', 'word')": "another content",
        "UPDATE forms SET form = replace(form, '100', '99')": "another content",
    },
    REFERENCES: {"DELETE FROM models": "7 replies refer to 1 in models"},
    TOTALS: {
        "UPDATE replies SET tokens_in = 3 WHERE agent = 0": "tokens or models",
        "DELETE FROM replies WHERE agent = 0 AND round = 2": "7 replies were written, 6 are there",
    },
    MANIFEST: {
        "UPDATE meta SET value = 8 WHERE key = 'seed'": "seed is 1 in the manifest, 8 in run.db",
        "DELETE FROM rounds WHERE round = 2": "the run is done, but run.db has 1 rounds of 2",
    },
    ROUNDS_ADD_UP: {
        "UPDATE rounds SET n_answered = 2 WHERE round = 1": "3 agents answered, excluded and failed, of 4",
        "UPDATE rounds SET n_answered = 4, n_failed = 0 WHERE round = 2": "0 agents failed, failures has 1",
        "UPDATE rounds SET histogram = '[1,1]' WHERE round = 1": "3 answered, the histogram has 2",
        "UPDATE rounds SET round = 3 WHERE round = 2": "round 3 comes after round 1",
        "UPDATE meta SET value = 2 WHERE key = 'groups'": "round 1: 0 groups of 2",
    },
    AGREE: {
        "DELETE FROM failures WHERE kind = 'unparsed'": "the reply is unparsed, which failures does not have",
        "UPDATE failures SET key = key + 4096 WHERE kind = 'repaired'": "repaired, which no reply is",
        f"UPDATE replies SET key = key + (9 << 12) {FIRST}": "agent 9, of 4 agents and 2 rounds",
        f"UPDATE replies SET key = key + 1 {FIRST}": "agent 0: 1 replies, but the last is to call 1",
    },
    SCHEMA: {
        "DROP VIEW usage": "usage is not there",
        "CREATE TABLE mine (x)": "mine is of another program",
        "ALTER TABLE events ADD COLUMN mood": "events is changed",
    },
}


def test_a_sound_run_passes_with_everything_looked_at(found: Found) -> None:
    them = found()
    assert len(them) == N_CHECKS
    assert {check.state for check in them.values()} == {"ok"}
    assert [name for name, check in them.items() if not check.n or check.unchecked] == []
    assert them[VALUES].n == 7


@pytest.mark.parametrize(
    ("sql", "name", "told"),
    [(sql, name, told) for name, cases in SPOILT.items() for sql, told in cases.items()],
)
def test_what_is_spoilt_is_found(spoil: Spoil, found: Found, sql: str, name: str, told: str) -> None:
    spoil(sql)
    problems = wrong(found())
    assert any(told in problem for problem in problems[name]), problems


def test_a_reply_that_is_there_twice(spoil: Spoil, found: Found) -> None:
    spoil(
        "CREATE TABLE copy AS SELECT * FROM replies",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'UNIQUE (key)', 'CHECK (1)') WHERE name = 'replies'",
        "DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_replies_1'",
    )
    spoil("INSERT INTO replies (key, text, finish, form) SELECT key, text, finish, form FROM copy LIMIT 1")
    assert wrong(found())["no key twice"] == ["1 replies have the key of another"]


def test_problems_are_counted_and_the_first_ones_told(tmp_path: Path) -> None:
    check = Check("x")
    for n in range(MAX_NAMED + 5):
        check.add(f"{n}")
    assert (check.n, check.n_wrong, check.wrong) == (
        MAX_NAMED + 5,
        MAX_NAMED + 5,
        [*map(str, range(MAX_NAMED))],
    )


def test_groups_add_up_to_the_whole(tmp_path: Path) -> None:
    run = play(tmp_path / "run", [("1", "2", "3", "4")], groups=2)
    assert wrong(checks(run)) == {}


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("DELETE FROM rounds WHERE grp = 1", "round 1: 1 groups of 2"),
        (
            "UPDATE rounds SET n_answered = 1, histogram = '[1,0]' WHERE grp = 0",
            "n_answered of the groups is not",
        ),
    ],
)
def test_groups_that_do_not(tmp_path: Path, sql: str, told: str) -> None:
    run = play(tmp_path / "run", [("1", "2", "3", "4")], groups=2)
    change(run, sql)
    (problem,) = wrong(checks(run))[ROUNDS_ADD_UP]
    assert told in problem


def test_without_texts_it_says_what_was_not_checked(tmp_path: Path) -> None:
    run = play(tmp_path / "run", ROUNDS, transcripts="none")
    them = checks(run)
    assert wrong(them) == {}
    values = them[VALUES]
    assert values.n == 7  # the two with a problem keep their texts
    assert values.unchecked == ["5 replies whose texts were not kept"]
    assert them[PROMPTS].n == 2


def test_without_text_a_reply_has_a_value_or_a_reason(tmp_path: Path) -> None:
    run = play(tmp_path / "run", ROUNDS, transcripts="none")
    change(run, "UPDATE replies SET value = NULL WHERE agent = 0 AND round = 1")
    them = checks(run)
    assert "neither a value nor a reason" in wrong(them)[VALUES][0]


def test_texts_that_were_cut_are_not_held_against_it(tmp_path: Path) -> None:
    run = play(tmp_path / "run", [("x" * 300, "1")], answer=Text(), max_chars=100)
    values = checks(run)[VALUES]
    assert (values.state, values.n, values.unchecked) == ("ok", 1, ["1 replies whose texts were cut"])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Choice(("yes", "no")), ("Yes", " no ", "perhaps")),
        (Text(), ("I think so", "", "ANSWER: 7")),
        (Number(0, 100, 2, reasoning=50), ("Well. ANSWER: 7.25", "7", "ANSWER: 101")),
        (JsonSchema({"type": "object"}), ('{"a": 1, "b": [1, {"c": "x"}]}', "{", '{"a": 1.0}')),
    ],
)
def test_every_form_of_answer_is_read_again(tmp_path: Path, answer: object, said: tuple[str, ...]) -> None:
    run = play(tmp_path / "run", [said], answer=answer)  # type: ignore[arg-type]
    them = checks(run)
    assert wrong(them) == {}
    assert them[VALUES].n == 3


@pytest.mark.parametrize("stored", ['{"a": 2}', "{", "7"])
def test_another_object_than_the_text_says(tmp_path: Path, stored: str) -> None:
    run = play(tmp_path / "run", [('{"a": 1}',)], answer=JsonSchema({"type": "object"}))
    change(run, f"UPDATE replies SET value = '{stored}'")
    assert wrong(checks(run))[VALUES]


def test_a_preset_that_was_changed(run: RunDirectory, found: Found) -> None:
    run.preset.write_text(run.preset.read_text() + "\n")
    assert wrong(found()) == {MANIFEST: ["preset.toml is not the one whose hash the manifest has"]}
    run.preset.unlink()
    assert "cannot be read" in wrong(found())[MANIFEST][0]


def test_a_branch_that_has_not_run_has_another_preset(tmp_path: Path) -> None:
    run = play(tmp_path / "run", ROUNDS, state="branched", preset_sha256="of its parent")
    assert wrong(checks(run)) == {}


@pytest.mark.parametrize("content", [None, "{", json.dumps({"name": "x"})])
def test_a_manifest_that_cannot_be_read_is_one_finding(
    run: RunDirectory, found: Found, content: str | None
) -> None:
    run.manifest.unlink()
    if content is not None:
        run.manifest.write_text(content)
    them = found()
    assert list(wrong(them)) == ["manifest can be read"]
    assert them[MANIFEST].state == "unchecked"


def test_a_file_that_cannot_be_opened_is_a_finding(run: RunDirectory, found: Found) -> None:
    run.run_file.unlink()
    assert "there is no run file" in wrong(found())["run.db can be read"][0]


def test_a_file_that_was_cut_short_is_a_finding_and_no_crash(run: RunDirectory, found: Found) -> None:
    content = run.run_file.read_bytes()
    for size in range(0, len(content), len(content) // 23):
        run.run_file.write_bytes(content[:size])
        assert wrong(found()), size


def test_a_run_that_goes_on_is_not_verified(run: RunDirectory) -> None:
    lock = Lock(run.lock)
    with pytest.raises(JournalError, match="is running this run") as caught:
        verify(run)
    assert "when it has ended" in caught.value.hint
    lock.release()


def test_further_tests_come_last_and_may_fail(run: RunDirectory) -> None:
    def refused(subject: Subject) -> list[Check]:
        raise UsageError("no such thing")

    *_, last = verify(run, [refused])
    assert (last.name, last.state, last.wrong) == ("refused", "wrong", ["no such thing"])
    assert len(verify(run)) == N_CHECKS == len(TESTS) + 3

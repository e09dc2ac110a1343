"""The life of an agent: its calls, its mail and its failures, each in its round."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import JournalError
from engine.journal.batch import JournalBatch
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.journal.story import Chapter, Failure, Mail, story
from engine.keys import pack
from tests.fakes.journal import PREFIX, reply
from tests.fakes.run_directories import make_run

PROMPT = '[["user","?"]]'


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return make_run(
        tmp_path / "run",
        JournalBatch(
            replies=[
                reply(3, 1, value=7.0, text="7", messages=PROMPT),
                reply(1, 1, 1, value=5.0, text="5", messages=PROMPT),
                reply(1, 1, 0, problem="unparsed", text="?", messages=PROMPT, prefix=4, model=9),
                reply(1, 2, value=5.0),
            ],
            failures=[
                (pack(1, 1, 0), "unparsed", "reply with one number", None, "asked again"),
                (pack(4, 1, 0), "exception", "ValueError: x", "Traceback ...", "agent stopped"),
            ],
            prefixes=[(PREFIX, '[["system","rules"]]')],
            messages=[
                (None, "tell", 2, 1, 0, 5, '"hello"', None, None),
                (pack(2, 1), "ask", 2, 6, 0, 1, '"why?"', None, "stopped"),
                (None, "tell", 2, 8, 0, 9, '"of others"', None, None),
            ],
        ),
    )


def read(run: RunDirectory, agent: int, only: int | None = None) -> list[Chapter]:
    with Reader(run.run_file) as file:
        return list(story(file, agent, only))


def test_it_goes_through_the_rounds_in_which_something_happened(run: RunDirectory) -> None:
    first, second, third, fourth = read(run, 1)
    assert [chapter.round for chapter in (first, second, third, fourth)] == [1, 2, 3, 4]
    assert [(call.call, call.value, call.problem) for call in first.calls] == [
        (0, None, "unparsed"),
        (1, 5.0, None),
    ]
    assert [failure.action for failure in first.calls[0].failures] == ["asked again"]
    assert first.calls[1].failures == first.failures == []
    assert second.mail == [
        Mail("tell", 5, 1, '"hello"', None, None),
        Mail("ask", 1, 6, '"why?"', None, "stopped"),
    ]
    assert fourth.failures == [Failure(0, "exception", "ValueError: x", "Traceback ...", "agent stopped")]


def test_a_prompt_is_prefix_and_messages(run: RunDirectory) -> None:
    unknown, known = read(run, 1)[0].calls
    assert known.prompt == [("system", "rules"), ("user", "?")]
    assert unknown.prompt == [("user", "?")]
    assert (known.model, unknown.model) == ("default", "unknown")


def test_texts_that_were_not_kept_are_none(run: RunDirectory) -> None:
    (chapter,) = read(run, 2)
    assert (chapter.calls[0].prompt, chapter.calls[0].text, chapter.calls[0].value) == (None, None, 5.0)


def test_one_round_alone(run: RunDirectory) -> None:
    assert [chapter.round for chapter in read(run, 1, 3)] == [3]
    assert read(run, 1, 7) == []
    assert read(run, 77) == []


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE replies SET messages = '{'",
        "UPDATE replies SET messages = '[[1,2]]'",
        "UPDATE replies SET value = x'00'",
        "UPDATE replies SET tokens_in = 'many'",
        "UPDATE failures SET detail = x'00'",
        "UPDATE messages SET sender = 'me' WHERE receiver = 1",
        "DROP TABLE failures",
    ],
)
def test_a_damaged_file_is_told(run: RunDirectory, sql: str) -> None:
    with closing(sqlite3.connect(run.run_file)) as connection, connection:
        connection.execute(sql)
    with pytest.raises(JournalError, match="cannot be read"):
        read(run, 1)

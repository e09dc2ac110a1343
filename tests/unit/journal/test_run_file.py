"""A run file is read in parts and as of one moment, and what is wrong with it is told."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from engine.errors import JournalError
from engine.journal.batch import JournalBatch
from engine.journal.run_file import RunFile
from engine.journal.writer import Writer
from tests.fakes.journal import reply


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run.db"
    writer = Writer(path)
    writer.add(JournalBatch([reply(1, agent) for agent in range(10)]))
    writer.close()
    return path


def test_rows_come_in_parts(path: Path) -> None:
    with RunFile(path) as file:
        parts = list(file.stream("SELECT agent FROM replies ORDER BY agent", size=4))
    assert [len(part) for part in parts] == [4, 4, 2]
    assert [agent for part in parts for (agent,) in part] == list(range(10))


def test_a_snapshot_does_not_see_what_is_written_meanwhile(path: Path) -> None:
    writer = Writer(path)
    with RunFile(path) as file:
        with file.snapshot():
            assert file.row("SELECT count(*) FROM replies") == (10,)
            writer.add(JournalBatch([reply(2, 1)]))
            writer.commit()
            assert file.row("SELECT count(*) FROM replies") == (10,)
        assert file.row("SELECT count(*) FROM replies") == (11,)
    writer.close()


def test_a_query_without_rows(path: Path) -> None:
    with RunFile(path) as file:
        assert file.row("SELECT 1 FROM replies WHERE agent = 99") is None
        assert list(file.stream("SELECT 1 FROM replies WHERE agent = 99")) == []


def test_nothing_can_be_written_through_it(path: Path) -> None:
    with RunFile(path) as file, pytest.raises(JournalError, match="cannot be read"):
        file.rows("DELETE FROM replies")


def test_a_column_that_is_not_there_is_told(path: Path) -> None:
    with RunFile(path) as file, pytest.raises(JournalError, match="no such column: mood") as caught:
        file.rows("SELECT mood FROM replies")
    assert "another version" in caught.value.hint


def test_content_of_a_wrong_form_is_told(path: Path) -> None:
    with RunFile(path) as file, pytest.raises(JournalError, match="cannot be read") as caught, file.reading():
        msgspec.json.decode("{")
    assert caught.value.where == str(path)


def test_text_that_is_none_is_told(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE replies SET text = CAST(x'ff41' AS TEXT)")
    with RunFile(path) as file, pytest.raises(JournalError, match="decode to UTF-8"):
        file.rows("SELECT text FROM replies")

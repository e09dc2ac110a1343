"""A run file answers the questions of a summary, and what is no run file says so."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from engine.errors import JournalError
from engine.journal.batch import JournalBatch
from engine.journal.reader import Reader
from engine.journal.version import APPLICATION_ID, SCHEMA_VERSION
from engine.journal.writer import Writer
from tests.fakes.journal import ended, failure, reply


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run #1?.db"
    writer = Writer(path)
    writer.add(
        JournalBatch(
            [
                reply(1, 0, value=50.0),
                reply(1, 1, 0, problem="unparsed"),
                reply(1, 1, 1, value=33.0),
                reply(1, 2, value=33.0),
                reply(2, 0, value=22.0),
            ],
            failures=[
                failure(1, 1),
                failure(1, 3, action="exclude"),
                failure(2, 3, "agent error", "stopped"),
            ],
        )
    )
    writer.rounds([ended(2, model_s=1.5), ended(1), ended(1, grp=0), ended(1, grp=1, stats={})])
    writer.meta({"seed": 5})
    writer.close()
    return path


def test_rounds_come_back_as_they_were(path: Path) -> None:
    with Reader(path) as reader:
        assert reader.rounds() == [ended(1), ended(2, model_s=1.5)]
        assert reader.rounds(group=1) == [ended(1, grp=1, stats={})]
        assert reader.rounds(group=7) == []


def test_answers_are_counted_by_value(path: Path) -> None:
    with Reader(path) as reader:
        assert reader.answers(1) == {33.0: 2, 50.0: 1}
        assert reader.answers(2) == {22.0: 1}
        assert reader.answers(3) == {}


def test_failures_are_counted_by_kind(path: Path) -> None:
    with Reader(path) as reader:
        assert reader.failures() == {"agent error": 1, "unparsed": 2}


def test_facts(path: Path) -> None:
    with Reader(path) as reader:
        assert reader.meta() == {"seed": 5, "usage": "[5,[[1,5,50,10,40]]]"}


def test_reading_changes_nothing(path: Path) -> None:
    before = path.read_bytes()
    with Reader(path) as reader:
        reader.failures()
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def other_program(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()


def newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 3}")
    connection.close()


def half_made(path: Path) -> None:
    """As a run leaves it that is killed while it makes its file."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("CREATE TABLE _sqlite_migrations (id)")
    connection.close()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, "there is no run file"),
        (Path.mkdir, "there is no run file"),
        (Path.touch, "nothing has been written"),
        (half_made, "nothing has been written"),
        (lambda path: path.write_text("hello" * 1000), "not a database"),
        (other_program, "not a run file"),
        (newer, f"schema {SCHEMA_VERSION + 3}, this simtui knows schemas up to {SCHEMA_VERSION}"),
    ],
)
def test_what_is_no_run_file_says_so(tmp_path: Path, make: Callable[[Path], object], told: str) -> None:
    path = tmp_path / "other.db"
    make(path)
    with pytest.raises(JournalError, match=told) as caught:
        Reader(path)
    assert caught.value.where == str(path)
    assert caught.value.hint
    assert str(path) not in {file.path for file in psutil.Process().open_files()}


def test_a_damaged_file_says_so(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with Reader(path) as reader, pytest.raises(JournalError, match="cannot be read"):
        reader.failures()

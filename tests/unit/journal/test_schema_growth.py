"""Run files of every version of the schema are read as they are, and brought to the present one."""

import io
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from engine.journal.batch import JournalBatch
from engine.journal.export import Format, export
from engine.journal.listing import look_at
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.journal.schema import MIGRATIONS
from engine.journal.story import story
from engine.journal.tables import tables
from engine.journal.version import SCHEMA_VERSION
from engine.journal.writer import Writer
from tests.fakes.journal import reply
from tests.fakes.run_directories import make_run
from tests.fixtures.make_run_file import fixture, make

OBJECTS = "SELECT type, name, sql FROM sqlite_master WHERE name NOT IN ('people', '_people') ORDER BY name"
"""All but what follows the attributes of the population."""


@pytest.fixture(params=range(1, SCHEMA_VERSION + 1))
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunDirectory]:
    """A run directory with a file of an older schema, or of this one."""
    run = make_run(tmp_path / "run")
    shutil.copyfile(fixture(request.param), run.run_file)
    before = fixture(request.param).read_bytes()
    yield run
    assert fixture(request.param).read_bytes() == before


def schema(path: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(OBJECTS).fetchall()


def check_content(run: RunDirectory) -> None:
    with Reader(run.run_file) as file:
        assert [(end.n_answered, end.n_excluded, end.n_failed) for end in file.rounds()] == [
            (3, 1, 0),
            (3, 0, 1),
        ]
        assert file.answers(1) == {10.0: 1, 20.0: 1, 60.0: 1}
        assert file.failures() == {"exception": 1, "repaired": 1, "unparsed": 1}
        assert file.meta()["agents"] == 4
        told, second, *_ = story(file, 0)
        assert told.calls[0].prompt == [
            ("system", "Name a number."),
            ("user", "You are player 0. Round 1: which number?"),
        ]
        assert [mail.message for mail in second.mail] == ['"hello"', '"why?"']


def test_it_is_read_as_it_is(old: RunDirectory) -> None:
    before = old.run_file.read_bytes()
    check_content(old)
    assert look_at(old).progress.rounds_done == 2
    with Reader(old.run_file) as file:
        for table in tables(file):
            assert export(file, table, Format.JSONL, io.BytesIO()) > 0, table
    assert old.run_file.read_bytes() == before


def test_a_writer_brings_it_to_the_present_schema_and_goes_on(old: RunDirectory, tmp_path: Path) -> None:
    writer = Writer(old.run_file)
    writer.add(JournalBatch([reply(3, 0, value=1.0)]))
    writer.close()
    check_content(old)
    fresh = tmp_path / "fresh.db"
    Writer(fresh).close()
    assert schema(old.run_file) == schema(fresh)
    with closing(sqlite3.connect(old.run_file)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (8,)
        assert MIGRATIONS.pending(Database(connection, execute_plugins=False)) == []


def test_the_fixture_of_the_present_schema_is_what_this_version_writes(tmp_path: Path) -> None:
    """If this fails, the schema has changed: add a migration, and a fixture of the new version."""
    make(tmp_path / "run.db")
    assert schema(fixture(SCHEMA_VERSION)) == schema(tmp_path / "run.db")

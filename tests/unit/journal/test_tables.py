"""Every table and view is found, and what its columns hold."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.journal.batch import JournalBatch
from engine.journal.run_file import RunFile
from engine.journal.tables import Column, Kind, column_names, columns, find_table, quoted, tables
from engine.journal.views import VIEWS
from tests.fakes.journal import reply
from tests.fakes.run_directories import make_run


@pytest.fixture
def file(tmp_path: Path) -> Iterator[RunFile]:
    with RunFile(make_run(tmp_path / "run", JournalBatch([reply(1, 1, value=5.0)])).run_file) as opened:
        yield opened


def test_tables_and_views_are_found_and_not_what_is_internal(file: RunFile) -> None:
    found = tables(file)
    assert {*VIEWS, "replies", "rounds", "messages"} < set(found)
    assert not [name for name in found if name.startswith(("_", "sqlite_"))]


def test_a_table_that_is_not_there_is_told_with_those_that_are(file: RunFile) -> None:
    assert find_table(file, "answers") == "answers"
    for name in ("answer", "_sqlite_migrations", "sqlite_master", ""):
        with pytest.raises(UsageError, match="no such table") as caught:
            find_table(file, name)
        assert "answers, " in caught.value.hint


def test_columns_have_the_declared_kinds_computed_ones_included(file: RunFile) -> None:
    found = {column.name: column.kind for column in columns(file, "replies")}
    assert list(found)[:4] == column_names(file, "replies")[:4] == ["key", "round", "agent", "call"]
    assert (found["round"], found["busy_s"], found["text"]) == (Kind.INTEGER, Kind.REAL, Kind.TEXT)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], Kind.TEXT),
        ([None], Kind.TEXT),
        ([1, None], Kind.INTEGER),
        ([1, 2.5], Kind.REAL),
        (["yes"], Kind.TEXT),
        (["yes", 1], Kind.MIXED),
        ([b"x"], Kind.MIXED),
    ],
)
def test_a_column_without_a_kind_has_that_of_its_values(
    tmp_path: Path, values: list[object], kind: Kind
) -> None:
    run = make_run(tmp_path / "other")
    with closing(sqlite3.connect(run.run_file)) as connection, connection:
        connection.execute('CREATE TABLE "odd ""name" ("a ""column")')
        connection.executemany('INSERT INTO "odd ""name" VALUES (?)', [(value,) for value in values])
    with RunFile(run.run_file) as file:
        assert columns(file, 'odd "name') == [Column('a "column', kind)]


def test_names_are_quoted() -> None:
    assert quoted('a"; DROP TABLE x') == '"a""; DROP TABLE x"'

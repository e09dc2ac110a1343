"""What the replies add up to is in the file with the replies, by model."""

import sqlite3
from pathlib import Path

import msgspec
import pytest

from engine.journal.batch import JournalBatch
from engine.journal.totals import Total, Totals, read_totals
from engine.journal.writer import Writer
from tests.fakes.journal import reply


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


def totals(path: Path) -> Totals:
    connection = sqlite3.connect(path)
    try:
        return read_totals(connection)
    finally:
        connection.close()


def change(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(sql)
    connection.close()


def test_they_are_those_of_the_rows_that_are_there(path: Path) -> None:
    writer = Writer(path)
    writer.add(JournalBatch([reply(1, 1), reply(1, 2, tokens_in=None), reply(1, 4, model=2)]))
    writer.commit()
    assert totals(path) == Totals(3, [Total(1, 2, 10, 4, 16), Total(2, 1, 10, 2, 8)])
    writer.add(JournalBatch([reply(1, 2), reply(1, 3)]))
    writer.commit()
    assert totals(path) == Totals(4, [Total(1, 3, 20, 6, 24), Total(2, 1, 10, 2, 8)])
    writer.close()


def test_what_came_from_the_answer_cache_has_no_tokens(path: Path) -> None:
    writer = Writer(path)
    writer.add(JournalBatch([reply(1, 1), reply(1, 2, samples=0)]))
    writer.close()
    assert totals(path) == Totals(2, [Total(1, 2, 10, 2, 8)])


@pytest.mark.parametrize("lost", ["DELETE FROM meta", "UPDATE meta SET value = '[9,[[1,9,1,1,1]]]'"])
def test_a_file_that_is_opened_again_makes_up_for_totals_that_it_lacks(path: Path, lost: str) -> None:
    for agent in range(3):
        writer = Writer(path)
        writer.add(JournalBatch([reply(1, agent)]))
        writer.close()
        if agent == 1:
            change(path, lost)
    assert totals(path) == Totals(3, [Total(1, 3, 30, 6, 24)])


def test_a_transaction_that_fails_leaves_them_as_they_were(path: Path) -> None:
    writer = Writer(path)
    writer.add(JournalBatch([reply(1, 1)], failures=[(2**63, "too large a key", "", None, "")]))
    with pytest.raises(OverflowError):
        writer.commit()
    assert totals(path) == Totals()
    writer.close()


def test_a_file_without_replies_has_none(path: Path) -> None:
    Writer(path).close()
    assert totals(path) == Totals()


def test_others_are_refused(path: Path) -> None:
    Writer(path).close()
    change(path, "INSERT INTO meta VALUES ('usage', 5)")
    with pytest.raises(msgspec.DecodeError):
        totals(path)

"""What is added is in the file after a commit, once."""

import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.errors import JournalError
from engine.journal import writer as writing
from engine.journal.batch import PLAIN_COLUMNS, REPLY_COLUMNS, JournalBatch
from engine.journal.writer import Writer
from engine.keys import pack
from tests.fakes.journal import ended, failure, reply

Ask = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def writer(path: Path) -> Iterator[Writer]:
    opened = Writer(path, now=lambda: 1e9, timer=count().__next__)
    yield opened
    opened.close()


@pytest.fixture
def ask(path: Path) -> Iterator[Ask]:
    """Ask the file, as any SQLite tool would."""
    connection = sqlite3.connect(path)
    yield lambda sql: connection.execute(sql).fetchall()
    connection.close()


def test_replies_show_their_key_in_parts(writer: Writer, ask: Ask) -> None:
    writer.add(JournalBatch([reply(3, 2_000_000_000, 4095, value=33.5, text="33.5")]))
    assert ask("SELECT * FROM replies") == []
    writer.commit()
    assert ask("SELECT round, agent, call, value, text FROM replies") == [
        (3, 2_000_000_000, 4095, 33.5, "33.5")
    ]
    assert ask("SELECT name FROM pragma_table_xinfo('replies') WHERE hidden = 2") == [
        ("round",),
        ("agent",),
        ("call",),
    ]


@pytest.mark.parametrize("value", [33.5, 33, "yes", None, "33"])
def test_values_keep_their_type(writer: Writer, ask: Ask, value: Any) -> None:
    writer.add(JournalBatch([reply(1, 1, value=value)]))
    writer.commit()
    ((stored,),) = ask("SELECT value FROM replies")
    assert (stored, type(stored)) == (value, type(value))


def test_the_same_key_twice_is_one_row_and_is_counted(writer: Writer, ask: Ask) -> None:
    writer.add(JournalBatch([reply(1, 1, value=1.0), reply(1, 2)]))
    writer.commit()
    writer.add(JournalBatch([reply(1, 1, value=2.0), reply(1, 3)], failures=[failure(1, 1), failure(1, 1)]))
    writer.commit()
    assert ask("SELECT agent, value FROM replies") == [(1, 1.0), (2, None), (3, None)]
    assert ask("SELECT count(*) FROM failures") == [(1,)]
    assert (writer.replies, writer.duplicates) == (3, 1)


def test_everything_else_is_kept_too(writer: Writer, ask: Ask) -> None:
    writer.add(JournalBatch(failures=[failure(1, 4)], prefixes=[(7, "[]")], forms=[(8, "{}")]))
    writer.model(1, "small", "llama_cpp", {"sha256": "ab"})
    writer.model(2, "paid", "vllm", {}, (1.0, 4.0, 0.5, "EUR"))
    writer.slices(["one", "two"])
    writer.event("started", "with \ud800")
    writer.meta({"seed": 5, "preset": "demo"})
    writer.rounds([ended(1), ended(1, grp=0)])
    writer.commit()
    assert ask("SELECT round, agent, call, kind, action FROM failures") == [
        (1, 4, 0, "unparsed", "asked again")
    ]
    assert ask("SELECT * FROM prefixes") == [(7, "[]")]
    assert ask("SELECT * FROM forms") == [(8, "{}")]
    assert ask("SELECT * FROM models") == [
        (1, "small", "llama_cpp", '{"sha256":"ab"}', None, None, None, None),
        (2, "paid", "vllm", "{}", 1.0, 4.0, 0.5, "EUR"),
    ]
    assert ask("SELECT * FROM slices") == [(1, "one"), (2, "two")]
    assert ask("SELECT time, kind, detail FROM events") == [(1e9, "started", "with ?")]
    assert ask("SELECT * FROM meta ORDER BY key") == [("preset", "demo"), ("seed", 5)]
    assert ask("SELECT round, grp FROM rounds ORDER BY grp") == [(1, -1), (1, 0)]


def test_a_round_that_is_told_again_stays_as_it_was(writer: Writer, ask: Ask) -> None:
    writer.rounds([ended(1, n_answered=3)])
    writer.rounds([ended(1, n_answered=4)])
    writer.commit()
    assert ask("SELECT n_answered FROM rounds") == [(3,)]


def test_a_full_transaction_is_committed_by_itself(
    writer: Writer, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "COMMIT_ROWS", 3)
    writer.add(JournalBatch([reply(1, agent) for agent in range(2)]))
    assert ask("SELECT count(*) FROM replies") == [(0,)]
    writer.add(JournalBatch([reply(1, 2)]))
    assert ask("SELECT count(*) FROM replies") == [(3,)]


def test_a_transaction_is_whole_or_not_there(writer: Writer, ask: Ask) -> None:
    writer.add(JournalBatch([reply(1, 1)]))
    writer.event("kind", "detail")
    writer.add(JournalBatch([(2**64, *reply(1, 2)[1:])]))
    with pytest.raises(OverflowError):
        writer.commit()
    assert ask("SELECT count(*) FROM replies") == [(0,)]
    assert ask("SELECT count(*) FROM events") == [(0,)]


def test_own_time_is_counted(writer: Writer) -> None:
    """The timer of the fixture goes on by 1 each time it is read."""
    before = writer.seconds
    writer.event("kind", "detail")
    assert writer.seconds == before
    writer.commit()
    assert writer.seconds == before + 1
    writer.commit()
    assert writer.seconds == before + 1


def test_closing_leaves_one_plain_file(path: Path) -> None:
    writer = Writer(path)
    writer.add(JournalBatch([reply(1, 1)]))
    writer.close()
    assert [file.name for file in path.parent.iterdir()] == ["run.db"]
    path.chmod(0o400)
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    assert connection.execute("SELECT count(*) FROM replies").fetchall() == [(1,)]
    connection.close()


def test_a_reader_that_is_still_there_does_not_hold_up_closing(path: Path) -> None:
    writer = Writer(path)
    writer.add(JournalBatch([reply(1, 1)]))
    writer.commit()
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM replies").fetchall() == [(1,)]
    writer.add(JournalBatch([reply(1, 2)]))
    writer.close()
    reader.execute("COMMIT")
    assert reader.execute("SELECT count(*) FROM replies").fetchall() == [(2,)]
    reader.close()


def test_a_file_is_opened_again_and_goes_on(path: Path) -> None:
    for agent in (1, 1, 2):
        writer = Writer(path)
        writer.add(JournalBatch([reply(1, agent)]))
        writer.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT agent FROM replies").fetchall() == [(1,), (2,)]
    connection.close()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be opened: unable to open database file") as caught:
        Writer(tmp_path / "nowhere" / "run.db")
    assert caught.value.where == str(tmp_path / "nowhere" / "run.db")
    assert "exist" in caught.value.hint


def test_a_file_of_another_program_is_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="not a run file"):
        Writer(path)
    assert path.read_bytes() == before
    assert str(path) not in {file.path for file in psutil.Process().open_files()}


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_bytes(b"no database" * 100)
    with pytest.raises(JournalError, match="not a database"):
        Writer(path)


def test_a_locked_file_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "LOCK_WAIT_S", 0.0)
    writer = Writer(path)
    other = sqlite3.connect(path)
    other.execute("BEGIN IMMEDIATE")
    writer.add(JournalBatch([reply(1, 1)]))
    with pytest.raises(JournalError, match=r"database is locked") as caught:
        writer.commit()
    assert "(0 replies are kept, the last 1 rows are not)" in caught.value.what
    assert "Another program has locked the file" in caught.value.hint
    other.rollback()
    other.close()
    writer.commit()
    assert writer.replies == 1
    writer.close()


def test_a_plain_reply_is_the_row_that_it_would_have_been(writer: Writer, ask: Ask) -> None:
    """Short of four columns, which every plain reply has alike, it must come to the same row and count."""
    full = reply(1, 1, value=4.0, text="4", messages="[]")
    plain = (pack(1, 2), *full[1 : len(PLAIN_COLUMNS)])
    writer.add(JournalBatch([full], plain=[plain, plain]))
    writer.commit()
    first, second = ask(f"SELECT {', '.join(REPLY_COLUMNS[1:])} FROM replies ORDER BY key")
    assert first == second == full[1:]
    assert (writer.replies, writer.duplicates) == (2, 1)

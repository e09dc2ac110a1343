"""The views answer the usual questions in plain SQL."""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlite_utils import Database

from engine.agents.calls import STEP_CALLS
from engine.journal.batch import FAILURE_COLUMNS, REPLY_COLUMNS
from engine.journal.rounds import ROUND_COLUMNS, Round
from engine.journal.schema import MIGRATIONS, migrate
from engine.journal.version import SCHEMA_VERSION
from engine.journal.views import VIEWS
from engine.journal.writer import PRICES
from engine.keys import pack, unpack
from tests.fakes.journal import PREFIX, ended, failure, reply

Ask = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def db() -> Iterator[Database]:
    opened = Database(memory=True, execute_plugins=False)
    migrate(opened)
    yield opened
    opened.close()


def insert(db: Database, table: str, columns: tuple[str, ...], *rows: tuple[Any, ...]) -> None:
    marks = ", ".join("?" * len(columns))
    db.conn.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)


def rounds(db: Database, *ends: Round) -> None:
    insert(db, "rounds", ROUND_COLUMNS, *(end.row() for end in ends))


def ask(db: Database, sql: str) -> list[tuple[Any, ...]]:
    return db.conn.execute(sql).fetchall()


def test_the_answer_is_the_last_value_of_a_step(db: Database) -> None:
    insert(
        db,
        "replies",
        REPLY_COLUMNS,
        reply(1, 4, 1, value=20.0),
        reply(1, 4, 0, value=10.0),
        reply(1, 4, 2, problem="unparsed"),
        reply(1, 4, STEP_CALLS, value="told another agent"),
        reply(1, 5, 0, value=1.0),
        reply(1, 6, 0, problem="unparsed"),
        reply(2, 4, 0, value=30.0),
    )
    assert ask(db, "SELECT round, agent, value FROM answers ORDER BY key") == [
        (1, 4, 20.0),
        (1, 5, 1.0),
        (2, 4, 30.0),
    ]


@pytest.mark.parametrize("action", ["exclude", "fallback", "last", "agent stopped"])
def test_an_agent_that_was_given_up_later_in_its_step_has_no_answer(db: Database, action: str) -> None:
    def fail(agent: int, call: int, action: str) -> None:
        insert(db, "failures", FAILURE_COLUMNS, (pack(1, agent, call), "unparsed", "", None, action))

    insert(db, "replies", REPLY_COLUMNS, reply(1, 4, 0, value="I think"), reply(1, 5, value=1.0))
    for call, going_on in enumerate(("asked again", "taken", "told the agent"), start=1):
        fail(4, call, going_on)
    assert len(ask(db, "SELECT value FROM answers")) == 2
    fail(4, 4, action)
    fail(5, STEP_CALLS, action)  # over what another agent asked
    assert ask(db, "SELECT value FROM answers") == [(1.0,)]


@pytest.mark.parametrize("key", [pack(1, 0), pack(2**20 - 1, 2**31 - 1, 4095), pack(7, 8, 9)])
def test_sql_takes_a_key_apart_as_python_does(db: Database, key: int) -> None:
    insert(db, "failures", ("key", "kind"), (key, "kind"))
    assert ask(db, "SELECT round, agent, call FROM failures") == [tuple(unpack(key))]


def test_stats_and_histogram_in_long_form(db: Database) -> None:
    rounds(db, ended(1), ended(1, grp=0, stats={"mean": None}, histogram=[]))
    assert ask(db, "SELECT * FROM round_stats ORDER BY grp, name") == [
        (1, -1, "mean", 40.5),
        (1, -1, "winner", "7"),
        (1, 0, "mean", None),
    ]
    assert ask(db, "SELECT * FROM round_histogram") == [(1, -1, 0, 0.0, 50.0, 1), (1, -1, 1, 50.0, 100.0, 3)]


def test_rounds_overall_leave_the_groups_out(db: Database) -> None:
    rounds(db, ended(1, model_s=1.5), ended(1, grp=0), ended(2))
    assert ask(db, "SELECT round, n_answered FROM rounds_overall") == [(1, 9), (2, 9)]
    assert ask(db, "SELECT round, seconds, model_s, idle_s FROM time_split") == [
        (1, 2.0, 1.5, None),
        (2, 2.0, None, None),
    ]


def test_failures_by_kind_and_action(db: Database) -> None:
    insert(db, "failures", FAILURE_COLUMNS, failure(1, 1), failure(1, 2), failure(1, 3, action="exclude"))
    assert ask(db, "SELECT * FROM failure_counts ORDER BY n") == [
        (1, "unparsed", "exclude", 1),
        (1, "unparsed", "asked again", 2),
    ]


def test_usage_by_round_model_and_slice(db: Database) -> None:
    insert(db, "models", ("id", "name"), (1, "small"))
    insert(db, "slices", ("id", "name"), (1, "thinkers"))
    rows = (reply(1, 1), reply(1, 2), reply(1, 3, model=2), reply(2, 1), reply(2, 2, slice=1))
    insert(db, "replies", REPLY_COLUMNS, *rows)
    assert ask(db, "SELECT * FROM usage ORDER BY round, model DESC, slice") == [
        (1, "small", None, 2, 20, 4, 16, 0.5, 1.0, None, None),
        (1, None, None, 1, 10, 2, 8, 0.25, 0.5, None, None),
        (2, "small", None, 1, 10, 2, 8, 0.25, 0.5, None, None),
        (2, "small", "thinkers", 1, 10, 2, 8, 0.25, 0.5, None, None),
    ]


def test_usage_has_a_cost_where_there_are_prices(db: Database) -> None:
    insert(db, "models", ("id", *PRICES), (1, 2, 10, 0.5, "EUR"), (2, None, None, None, None))
    cached_answer = reply(1, 3, samples=0)
    insert(db, "replies", REPLY_COLUMNS, reply(1, 1), reply(1, 2, model=2), cached_answer)
    assert ask(db, "SELECT calls, tokens_in, cost, currency FROM usage ORDER BY currency DESC") == [
        (2, 10, pytest.approx((2 * 2 + 8 * 0.5 + 2 * 10) / 1e6), "EUR"),
        (1, 10, None, None),
    ]


def test_a_transcript_is_in_the_order_of_the_calls(db: Database) -> None:
    insert(db, "prefixes", ("id", "messages"), (PREFIX, '[["system","rules"]]'))
    insert(
        db,
        "replies",
        REPLY_COLUMNS,
        reply(2, 1, text="later", messages="[]"),
        reply(1, 2, text="another"),
        reply(1, 1, 1, text="second"),
        reply(1, 1, 0, text="first", messages='[["user","?"]]', problem="unparsed"),
    )
    rows = ask(db, "SELECT round, call, prefix, messages, text, problem FROM transcript WHERE agent = 1")
    assert [row[:2] for row in rows] == [(1, 0), (1, 1), (2, 0)]
    assert rows[0][2:] == ('[["system","rules"]]', '[["user","?"]]', "first", "unparsed")


def test_the_version_counts_the_migrations() -> None:
    db = Database(memory=True, execute_plugins=False)
    assert len(MIGRATIONS.pending(db)) == SCHEMA_VERSION
    migrate(db)
    assert MIGRATIONS.pending(db) == []
    db.close()


def test_the_columns_are_those_that_are_written(db: Database) -> None:
    def columns(table: str) -> list[str]:
        return [row[0] for row in ask(db, f"SELECT name FROM pragma_table_info('{table}')")]

    assert columns("rounds") == list(ROUND_COLUMNS)
    assert sorted(columns("replies")) == sorted(REPLY_COLUMNS)
    assert columns("failures") == list(FAILURE_COLUMNS)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_can_be_read_when_empty(db: Database, view: str) -> None:
    assert ask(db, f"SELECT * FROM {view}") == []


def test_views_do_not_need_a_new_sqlite(db: Database) -> None:
    """SQLite 3.31 has none of these; long-term Linux distributions ship 3.34."""
    sql = " ".join(row[0] for row in ask(db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
    for newer in ("->", " STRICT", "RETURNING", "iif(", "MATERIALIZED", "unixepoch", "format("):
        assert newer not in sql
    assert sqlite3.sqlite_version_info >= (3, 31)

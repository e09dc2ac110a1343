"""Who agents are, as columns that any SQLite tool can query."""

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.journal.export import Format, export
from engine.journal.people import MOST, PART, Attribute, column_names
from engine.journal.personas import Personas
from engine.journal.reader import Reader
from engine.journal.writer import Writer

HOSTILE = [
    'x" FROM replies; DROP TABLE replies; --',
    "'); DELETE FROM meta; --",
    "agent",
    "PERSONA",
    "rowid",
    "Age",
    "age",
    "age_2",
    "a\0b\x1b[2J",
    "",
    "\ud800",
    "select",
    "[x]",
    "`y`",
]


def of(name: str, values: list[Any], **more: Any) -> Attribute:
    return Attribute(name, lambda first, end: values[first:end], **more)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    opened = Writer(tmp_path / "run.db")
    yield opened
    opened.close()


def people(tmp_path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(tmp_path / "run.db")) as connection:
        return connection.execute("SELECT * FROM people").fetchall()


def test_words_and_dates_come_back(writer: Writer, tmp_path: Path) -> None:
    writer.people(
        3,
        [
            of("job", [1, 0, 1], words=["cook", "nurse"]),
            of("age", [30, 40, 50]),
            of("born", [0, -1, 20_000], is_date=True),
            of("well", [True, False, True]),
            of("income", [1.5, 2.0, 1e9]),
        ],
    )
    writer.personas([(1, True, "Ann cooks."), (2, False, "You are a nurse.")])
    writer.commit()
    assert people(tmp_path) == [
        (0, "nurse", 30, "1970-01-01", 1, 1.5, None),
        (1, "cook", 40, "1969-12-31", 0, 2.0, "Ann cooks."),
        (2, "nurse", 50, "2024-10-04", 1, 1e9, "You are a nurse."),
    ]
    with Reader(tmp_path / "run.db") as file:
        assert file.person(1)["job"] == "cook"
        assert list(file.person(1))[-1] == "persona"
        assert file.person(3) == {}
        out = io.BytesIO()
        assert export(file, "people", Format.CSV, out) == 3
        assert out.getvalue().startswith(b"agent,job,age,born,well,income,persona\r\n0,nurse,30,")


def test_only_what_a_model_wrote_is_looked_up(writer: Writer, tmp_path: Path) -> None:
    writer.personas([(1, True, "Ann cooks."), (2, False, "You are a nurse.")])
    writer.commit()
    found = Personas(tmp_path / "run.db")
    assert [found.text(agent) for agent in range(3)] == [None, "Ann cooks.", None]
    assert not found.are_complete
    writer.population("report", {})
    writer.commit()
    assert found.are_complete
    found.close()


def test_who_is_written_again_is_there_once(writer: Writer, tmp_path: Path) -> None:
    writer.people(2, [of("a", [1, 2]), of("b", [0, 0], words=["x"])])
    writer.people(1, [of("c", [3])])
    writer.commit()
    assert people(tmp_path) == [(0, 3, None)]


@pytest.mark.parametrize("n", [0, PART - 1, PART, PART + 1])
def test_none_is_lost_between_parts(writer: Writer, tmp_path: Path, n: int) -> None:
    writer.people(n, [of("a", list(range(n)))])
    assert [row[0] for row in people(tmp_path)] == [row[1] for row in people(tmp_path)] == list(range(n))


def test_no_name_does_harm(writer: Writer, tmp_path: Path) -> None:
    words = ["'); DROP TABLE replies; --", '"']
    writer.people(1, [of(name, [place % 2], words=words) for place, name in enumerate(HOSTILE)])
    with closing(sqlite3.connect(tmp_path / "run.db")) as connection:
        cursor = connection.execute("SELECT * FROM people")
        assert [column[0] for column in cursor.description] == ["agent", *column_names(HOSTILE), "persona"]
        assert cursor.fetchone() == (0, *(words[place % 2] for place in range(len(HOSTILE))), None)
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (0,)


@given(st.lists(st.text(max_size=8), max_size=20))
def test_every_attribute_has_a_column_of_its_own(names: list[str]) -> None:
    found = column_names(names)
    assert len({name.lower() for name in (*found, "agent", "persona")}) == len(names) + 2


def test_so_many_attributes_become_columns(writer: Writer, tmp_path: Path) -> None:
    writer.people(1, [of(f"a{place}", [place]) for place in range(MOST + 5)])
    assert len(people(tmp_path)[0]) == MOST + 2

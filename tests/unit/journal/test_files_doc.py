"""docs/files.md names every table, view and column, and its queries run."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database

from engine.journal.people import Attribute, write_people
from engine.journal.schema import migrate
from engine.journal.version import APPLICATION_ID, SCHEMA_VERSION
from engine.journal.writer import COMMIT_ROWS

DOC = (Path(__file__).parents[3] / "docs" / "files.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", DOC, re.DOTALL)


@pytest.fixture(scope="module")
def db() -> Iterator[Database]:
    opened = Database(memory=True, execute_plugins=False)
    migrate(opened)
    education = Attribute("education", lambda first, end: [], ["school", "college"])
    write_people(opened.conn, 0, [education, Attribute("age", lambda first, end: [])])
    yield opened
    opened.close()


def described() -> dict[str, set[str]]:
    """Return the names in backticks of each paragraph on a table, and each row on a view."""
    found = re.findall(r"^(?:\*\*(\w+)\*\*|\| `(\w+)` \|)(.*)$", DOC, re.MULTILINE)
    return {table or view: set(re.findall(r"`(\w+)`", text)) for table, view, text in found}


def test_every_column_is_described(db: Database) -> None:
    names = [name for name in (*db.table_names(), *db.view_names()) if not name.startswith(("_", "sqlite_"))]
    assert len(names) == 25
    told = described() | {"rounds_overall": described()["rounds"]}
    for name in names:
        columns = {row[1] for row in db.execute(f"PRAGMA table_xinfo({name})")}
        assert columns - told[name] - {"education"} == set(), name


@pytest.mark.parametrize("sql", QUERIES)
def test_every_query_runs(db: Database, sql: str) -> None:
    assert db.execute(sql).fetchall() == []


def test_the_query_for_one_agent_uses_the_index(db: Database) -> None:
    (sql,) = [query for query in QUERIES if "CROSS JOIN" in query]
    plan = " ".join(row[3] for row in db.execute("EXPLAIN QUERY PLAN " + sql))
    assert "SEARCH replies USING INDEX" in plan


def test_figures_are_those_of_the_code() -> None:
    assert f"is {APPLICATION_ID} " in DOC
    assert f"now {SCHEMA_VERSION}." in DOC
    assert f"{COMMIT_ROWS:,} wait" in DOC

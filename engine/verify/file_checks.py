"""Whether the database is sound: pages, schema, keys, references, sums."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlite_utils import Database

from engine.journal.schema import migrate
from engine.journal.totals import Total, Totals, read_totals
from engine.journal.version import SCHEMA_VERSION
from engine.verify.check import MAX_NAMED, Check, Subject

_OBJECTS = """
SELECT name, sql FROM sqlite_master
WHERE sql IS NOT NULL AND substr(name, 1, 1) <> '_' AND substr(name, 1, 7) <> 'sqlite_'
  AND name <> 'people'"""
"""All but the view whose columns are the attributes of the population."""
_BEGINNING = re.compile(r"CREATE (TABLE|VIEW) \S+ (AS )?")
"""sqlite-utils has quoted names in more than one way."""
_REFERENCES = (("model", "models"), ("prefix", "prefixes"), ("form", "forms"))
_COUNTED = """
SELECT coalesce(model, 0), count(*), total(tokens_in * (samples > 0)), total(tokens_out * (samples > 0)),
  total(tokens_cached * (samples > 0)) FROM replies GROUP BY model"""


def integrity(subject: Subject) -> Iterator[Check]:
    """SQLite's own check of every page and index."""
    check = Check("database is sound")
    for (line,) in subject.file.rows(f"PRAGMA integrity_check({MAX_NAMED})"):
        check.add(None if line == "ok" else str(line))
    yield check


def schema(subject: Subject) -> Iterator[Check]:
    """Tables, indexes and views are those that this version makes."""
    check = Check("tables and views are as documented")
    ((version,),) = subject.file.rows("PRAGMA user_version")
    if version != SCHEMA_VERSION:
        check.unchecked.append(f"the file has schema {version}, this version makes {SCHEMA_VERSION}")
    else:
        expected, found = _expected(), _without_beginnings(subject.file.rows(_OBJECTS))
        for name in {**expected, **found}:
            same = expected.get(name) == found.get(name)
            how = (
                "not there" if name not in found else "changed" if name in expected else "of another program"
            )
            check.add(None if same else f"{name} is {how}")
    yield check


def keys(subject: Subject) -> Iterator[Check]:
    """No reply is there twice. Looks at the rows, not at the index that forbids it."""
    check = Check("no key twice")
    ((n, distinct),) = subject.file.rows("SELECT count(*), count(DISTINCT key) FROM replies NOT INDEXED")
    check.add(None if n == distinct else f"{n - distinct:,} replies have the key of another", n)
    yield check


def references(subject: Subject) -> Iterator[Check]:
    """What replies refer to is there."""
    check = Check("models, prompts and forms of replies are there")
    for column, table in _REFERENCES:
        used = subject.file.rows(
            f"SELECT replies.{column}, count(*), {table}.id FROM replies "  # noqa: S608
            f"LEFT JOIN {table} ON {table}.id = replies.{column} GROUP BY replies.{column}"
        )
        for number, n, found in used:
            missing = found is None and number is not None
            check.add(
                f"{n:,} replies refer to {number} in {table}, which is not there" if missing else None, n
            )
    yield check


def totals(subject: Subject) -> Iterator[Check]:
    """As many replies and tokens are there as were written."""
    check = Check("as many replies and tokens as were written")
    known = subject.file.read(read_totals)
    if known == Totals():
        check.unchecked.append("the run was written by a version that did not add them up")
    else:
        found = [Total(model, n, *map(int, sums)) for model, n, *sums in subject.file.rows(_COUNTED)]
        n = sum(total.replies for total in found)
        check.add(None if n == known.row else f"{known.row:,} replies were written, {n:,} are there", n)
        if n == known.row and sorted(found, key=_model) != sorted(known.models, key=_model):
            check.add("tokens or models of replies are not those that were written")
    yield check


def _model(total: Total) -> int:
    return total.model


def _expected() -> dict[str, str]:
    db = Database(memory=True, execute_plugins=False)
    try:
        migrate(db)
        return _without_beginnings(db.execute(_OBJECTS).fetchall())
    finally:
        db.close()


def _without_beginnings(rows: list[tuple[str, str]]) -> dict[str, str]:
    return {name: _BEGINNING.sub("", str(sql)) for name, sql in rows}

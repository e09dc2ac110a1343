"""A table comes out in every format as it is in the file, whatever its texts hold."""

import csv
import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import JournalError, UsageError
from engine.journal import export_arrow
from engine.journal.batch import JournalBatch
from engine.journal.export import Format, export, write_csv, write_jsonl
from engine.journal.run_directory import RunDirectory
from engine.journal.run_file import RunFile
from tests.fakes.journal import ended, failure, reply
from tests.fakes.run_directories import make_run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NASTY = 'quo"te, comma\r\nline\n\x00\x1b[2J\u202e\U0001f600'


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    replies = [reply(1, agent, value=agent / 2, text=NASTY if agent % 2 else None) for agent in range(7)]
    return make_run(tmp_path / "run", JournalBatch(replies, failures=[failure(1, 1)]), [ended(1)])


def exported(run: RunDirectory, table: str, form: Format) -> tuple[int, bytes]:
    out = io.BytesIO()
    with RunFile(run.run_file) as file:
        n = export(file, table, form, out)
    assert not out.closed
    return n, out.getvalue()


def in_file(run: RunDirectory, table: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(run.run_file)) as connection:
        connection.row_factory = sqlite3.Row
        names = [row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})")]
        return [dict(row) for row in connection.execute(f"SELECT {', '.join(names)} FROM {table}")]


@pytest.mark.parametrize("table", ["replies", "answers", "failures", "rounds", "usage", "messages", "meta"])
def test_jsonl_has_an_object_a_row(run: RunDirectory, table: str) -> None:
    n, content = exported(run, table, Format.JSONL)
    rows = in_file(run, table)
    assert [json.loads(line) for line in content.decode().split("\n")[:-1]] == rows
    assert n == len(rows)


@pytest.mark.parametrize("table", ["replies", "answers", "failures", "rounds", "messages"])
def test_csv_has_names_and_rows(run: RunDirectory, table: str) -> None:
    n, content = exported(run, table, Format.CSV)
    rows = in_file(run, table)
    read = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert read == [{k: "" if v is None else str(v) for k, v in row.items()} for row in rows]
    assert n == len(rows)


@pytest.mark.parametrize("form", [Format.PARQUET, Format.ARROW])
@pytest.mark.parametrize("table", ["replies", "answers", "failures", "rounds", "usage", "messages"])
def test_columns_have_types_and_rows_are_those_of_the_file(
    run: RunDirectory, table: str, form: Format
) -> None:
    n, content = exported(run, table, form)
    source = pa.BufferReader(content)
    read = pq.read_table(source) if form is Format.PARQUET else pa.ipc.open_file(source).read_all()
    assert read.to_pylist() == in_file(run, table)
    assert n == read.num_rows
    if table == "replies":
        types = {field.name: str(field.type) for field in read.schema}
        assert (types["key"], types["value"], types["text"], types["busy_s"]) == (
            "int64",
            "double",
            "string",
            "double",
        )


@pytest.mark.parametrize("limits", [(3, 1 << 30), (1 << 30, 1)])
def test_rows_are_written_in_groups_of_bounded_size(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int]
) -> None:
    monkeypatch.setattr(export_arrow, "GROUP_ROWS", limits[0])
    monkeypatch.setattr(export_arrow, "GROUP_BYTES", limits[1])
    monkeypatch.setattr(RunFile.stream, "__kwdefaults__", {"size": 2})
    file = pq.ParquetFile(pa.BufferReader(exported(run, "replies", Format.PARQUET)[1]))
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert sizes == ([4, 3] if limits[0] == 3 else [2, 2, 2, 1])
    assert file.read().to_pylist() == in_file(run, "replies")


def test_numbers_and_texts_in_one_column_become_texts(run: RunDirectory) -> None:
    with closing(sqlite3.connect(run.run_file)) as connection, connection:
        connection.execute("UPDATE replies SET value = 'yes' WHERE agent = 1")
    read = pq.read_table(pa.BufferReader(exported(run, "answers", Format.PARQUET)[1]))
    assert read["value"].to_pylist()[:3] == ["0.0", "yes", "1.0"]


def test_a_value_that_is_not_what_its_column_says_is_told(run: RunDirectory) -> None:
    with closing(sqlite3.connect(run.run_file)) as connection, connection:
        connection.execute("UPDATE replies SET tokens_in = 'many' WHERE agent = 1")
    with pytest.raises(JournalError, match="column tokens_in holds something else than int64"):
        exported(run, "replies", Format.PARQUET)


def test_without_pyarrow_the_extra_is_named(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "engine.journal.export_arrow")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="pyarrow is not installed") as caught:
        exported(run, "answers", Format.PARQUET)
    assert "[analysis]" in caught.value.hint
    assert exported(run, "answers", Format.CSV)[0] == 7


def test_a_table_that_is_not_there(run: RunDirectory) -> None:
    with pytest.raises(UsageError, match="no such table"):
        exported(run, "replies; DROP TABLE replies", Format.CSV)


# Half a surrogate pair cannot be in an SQLite text.
texts = st.text(st.characters(exclude_categories=["Cs"]))
rows = st.lists(
    st.tuples(
        st.none() | texts, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
    )
)


@given(rows)
def test_csv_reads_back(table: list[tuple[Any, ...]]) -> None:
    out = io.BytesIO()
    write_csv(["a", "b", "c"], [table], out)
    read = list(csv.reader(io.StringIO(out.getvalue().decode(), newline="")))
    assert read == [["a", "b", "c"], *([a or "", str(b), repr(c)] for a, b, c in table)]


@given(rows)
def test_jsonl_reads_back(table: list[tuple[Any, ...]]) -> None:
    out = io.BytesIO()
    write_jsonl(["a", "b", "c"], [table], out)
    lines = out.getvalue().decode().split("\n")
    assert [tuple(json.loads(line).values()) for line in lines[:-1]] == table
    assert lines[-1] == ""

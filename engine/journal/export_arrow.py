"""A table of a run file in columns, as Parquet or Arrow, a bounded number of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from engine.errors import JournalError
from engine.journal.faults import DAMAGED
from engine.journal.run_file import RunFile
from engine.journal.tables import Column, Kind, columns, quoted

GROUP_ROWS = 100_000
GROUP_BYTES = 32 << 20
"""Rows are held until either is reached, and then written as one group."""


def write_arrow(file: RunFile, table: str, out: BinaryIO, *, as_parquet: bool) -> int:
    """Write a table or view; return how many rows it has. Raises JournalError and OSError.

    A column of numbers and texts becomes one of texts.
    """
    found = columns(file, table)
    schema = pa.schema([(column.name, _type(column.kind)) for column in found])
    n = 0
    with _writer(out, schema, as_parquet) as writer:
        for group in _groups(file, _select(table, found), schema, table):
            writer.write_table(group)
            n += group.num_rows
    return n


def _type(kind: Kind) -> Any:
    return {Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64()}.get(kind, pa.string())


def _select(table: str, found: list[Column]) -> str:
    names = [f"CAST({quoted(c.name)} AS TEXT)" if c.kind is Kind.MIXED else quoted(c.name) for c in found]
    return f"SELECT {', '.join(names)} FROM {quoted(table)}"  # noqa: S608


@contextmanager
def _writer(out: BinaryIO, schema: Any, as_parquet: bool) -> Iterator[Any]:
    opened = pq.ParquetWriter(out, schema, compression="zstd") if as_parquet else pa.ipc.new_file(out, schema)
    with opened as writer:
        yield writer


def _groups(file: RunFile, sql: str, schema: Any, table: str) -> Iterator[Any]:
    """Yield the rows as Arrow tables of about equal size."""
    batches: list[Any] = []
    n_rows = n_bytes = 0
    for part in file.stream(sql):
        batch = _batch(list(zip(*part, strict=True)), schema, f"{file.path}: {table}")
        batches.append(batch)
        n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
        if n_rows >= GROUP_ROWS or n_bytes >= GROUP_BYTES:
            yield pa.Table.from_batches(batches).combine_chunks()
            batches, n_rows, n_bytes = [], 0, 0
    if batches:
        yield pa.Table.from_batches(batches).combine_chunks()


def _batch(values: list[Any], schema: Any, where: str) -> Any:
    arrays = []
    for field, column in zip(schema, values, strict=True):
        try:
            arrays.append(pa.array(column, field.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise JournalError(
                f"column {field.name} holds something else than {field.type}: {error}",
                where=where,
                hint=DAMAGED,
            ) from error
    return pa.record_batch(arrays, schema=schema)

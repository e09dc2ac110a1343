"""A table of a run file as text in other formats, row by row, so that its size does not matter."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, BinaryIO

import msgspec

from engine.errors import UsageError
from engine.installation import how_to_install
from engine.journal.run_file import RunFile
from engine.journal.tables import column_names, find_table, quoted

Part = Sequence[tuple[Any, ...]]
"""Some rows."""


class Format(StrEnum):
    """What a table can be written as."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"

    @property
    def is_text(self) -> bool:
        """Whether it can be read in a pipe."""
        return self in (Format.CSV, Format.JSONL)


def export(file: RunFile, table: str, form: Format, out: BinaryIO) -> int:
    """Write a table or view, in the order in which the file has its rows; return how many rows it has.

    Raises JournalError, UsageError if there is no such table or the format needs a package that is not
    installed, and OSError.
    """
    find_table(file, table)
    if not form.is_text:
        return _columnar()(file, table, out, as_parquet=form is Format.PARQUET)
    names = column_names(file, table)
    sql = f"SELECT {', '.join(map(quoted, names))} FROM {quoted(table)}"  # noqa: S608
    counted = Counted(file.stream(sql))
    (write_csv if form is Format.CSV else write_jsonl)(names, counted, out)
    return counted.n


def _columnar() -> Callable[..., int]:
    try:
        from engine.journal.export_arrow import write_arrow
    except ImportError as error:
        raise UsageError(
            f"{error.name} is not installed",
            where="--format",
            hint=f"csv and jsonl need nothing more; or: {how_to_install('analysis')}",
        ) from error
    return write_arrow


class Counted:
    """Passes parts on and counts their rows."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = parts
        self.n = 0

    def __iter__(self) -> Iterator[Part]:
        for part in self._parts:
            self.n += len(part)
            yield part


def write_csv(names: Sequence[str], parts: Iterable[Part], out: BinaryIO) -> None:
    """Write CSV (RFC 4180, UTF-8) with a line of names; NULL is an empty field."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="")
    try:
        writer = csv.writer(text)
        writer.writerow(names)
        for part in parts:
            writer.writerows(part)
        text.flush()
    finally:
        text.detach()


def write_jsonl(names: Sequence[str], parts: Iterable[Part], out: BinaryIO) -> None:
    """Write one JSON object a row, in UTF-8; columns that hold JSON stay text."""
    encoder = msgspec.json.Encoder()
    for part in parts:
        out.write(encoder.encode_lines([dict(zip(names, row, strict=True)) for row in part]))

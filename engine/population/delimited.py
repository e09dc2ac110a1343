"""CSV and Parquet files, read column by column; each column as a list of distinct words and a code for each
row."""

from __future__ import annotations

import csv
import os
import stat
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.installation import how_to_install
from engine.population.faults import PopulationError, listed, meant, quoted
from engine.population.streams import Floats

MAX_ROWS = 50_000_000
MISSING = ("", "nan", "na", "null", "none", "n/a")
"""Words, in lower case, that say that there is no value."""


@dataclass(frozen=True)
class Raw:
    """The columns of a file that were asked for."""

    n: int
    codes: dict[str, NDArray[Any]]
    words: dict[str, list[str]]

    def missing(self, column: str) -> NDArray[np.bool_]:
        """Return which rows have no value in a column."""
        empty = np.array([word.lower() in MISSING for word in self.words[column]], dtype=bool)
        found: NDArray[np.bool_] = empty[self.codes[column]]
        return found

    def place(self, rows: NDArray[np.bool_]) -> str:
        """Return where the first of some rows is."""
        return f"record {int(np.argmax(rows)) + 1:,}"

    def numbers(self, column: str, rows: NDArray[np.bool_] | None = None) -> Floats:
        """Return the numbers of a column, of some rows. Raises ValueError, telling a record that has none."""
        values: Floats = np.array([_number(word) for word in self.words[column]])[self.codes[column]]
        bad = ~np.isfinite(values) if rows is None else rows & ~np.isfinite(values)
        if bad.any():
            word = self.words[column][self.codes[column][int(np.argmax(bad))]]
            raise ValueError(f"{self.place(bad)}: {quoted(word)} is not a finite number")
        return values if rows is None else values[rows]


def read(path: Path, columns: Iterable[str], delimiter: str, where: Sequence[str]) -> Raw:
    """Read columns of a file. Raises PopulationError; `where` is the table of the preset that names the
    file."""
    wanted = list(columns)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe could block, a device never end
            raise PopulationError(f"{quoted(path)} is not a regular file", *where, "file")
        if path.suffix.lower() in (".parquet", ".pq"):
            return _read_parquet(path, wanted, where)
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _read_rows(csv.reader(file, delimiter=delimiter, strict=True), path, wanted, where)
    except OSError as error:
        raise PopulationError(
            f"{quoted(path)} cannot be read: {error.strerror or error}", *where, "file"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise PopulationError(
            f"{quoted(path)} is not a CSV file in UTF-8: {error}", *where, "file"
        ) from error


def _read_rows(rows: Iterator[list[str]], path: Path, wanted: list[str], where: Sequence[str]) -> Raw:
    header = [name.strip() for name in next(rows, [])]
    places = [_place(name, header, path, where) for name in wanted]
    found: list[dict[str, int]] = [{} for _ in wanted]
    codes = [array("q") for _ in wanted]
    n = 0
    for n, row in enumerate(_whole(rows, len(header), path, where), start=1):
        if n > MAX_ROWS:
            raise PopulationError(f"{quoted(path)} has more than {MAX_ROWS:,} records", *where, "file")
        for place, known, column in zip(places, found, codes, strict=True):
            column.append(known.setdefault(row[place].strip(), len(known)))
    if n == 0:
        raise PopulationError(f"{quoted(path)} has no records", *where, "file")
    return Raw(
        n,
        {name: np.frombuffer(column, dtype=np.int64) for name, column in zip(wanted, codes, strict=True)},
        {name: list(known) for name, known in zip(wanted, found, strict=True)},
    )


def _whole(rows: Iterator[list[str]], width: int, path: Path, where: Sequence[str]) -> Iterator[list[str]]:
    for number, row in enumerate(rows, start=1):
        if len(row) == width:
            yield row
        elif row:
            what = f"record {number:,} of {quoted(path)} has {len(row)} values, the header has {width}"
            raise PopulationError(what, *where, "file")


def _place(name: str, header: list[str], path: Path, where: Sequence[str]) -> int:
    if name not in header:
        hint = meant(name, header)
        raise PopulationError(f"{quoted(path)} has no column {quoted(name)}", *where, hint=hint)
    if header.count(name) > 1:
        raise PopulationError(f"{quoted(path)} has several columns {quoted(name)}", *where)
    return header.index(name)


def _read_parquet(path: Path, wanted: list[str], where: Sequence[str]) -> Raw:
    try:
        from pyarrow import parquet
        from pyarrow.lib import ArrowException
    except ImportError as error:
        hint = f"use a CSV file, or: {how_to_install('analysis')}"
        raise PopulationError("Parquet files need the package pyarrow", *where, "file", hint=hint) from error
    try:
        file = parquet.ParquetFile(path)
        for name in wanted:
            _place(name, file.schema_arrow.names, path, where)
        if not 0 < file.metadata.num_rows <= MAX_ROWS:
            what = f"{quoted(path)} has {file.metadata.num_rows:,} records; 1 to {MAX_ROWS:,} are possible"
            raise PopulationError(what, *where, "file")
        table = file.read(columns=wanted)
        pairs = {name: _encoded(table.column(name)) for name in wanted}
    except ArrowException as error:
        raise PopulationError(
            f"{quoted(path)} is not a Parquet file: {listed([error])}", *where, "file"
        ) from error
    return Raw(
        table.num_rows,
        {name: codes for name, (codes, _) in pairs.items()},
        {n: words for n, (_, words) in pairs.items()},
    )


def _encoded(column: Any) -> tuple[NDArray[Any], list[str]]:
    encoded = column.combine_chunks()
    if not hasattr(encoded, "dictionary"):
        encoded = encoded.dictionary_encode(null_encoding="encode")
    encoded = encoded.chunk(0) if hasattr(encoded, "chunks") else encoded
    words = [_word(value) for value in encoded.dictionary.to_pylist()]
    codes = encoded.indices.to_pylist() if encoded.indices.null_count else encoded.indices.to_numpy()
    if encoded.indices.null_count:
        codes = np.array([len(words) if code is None else code for code in codes])
        words.append("")
    return np.asarray(codes), words


def _word(value: object) -> str:
    from engine.population.column import label

    return "" if value is None else label(value).strip()


def _number(word: str) -> float:
    try:
        return float(word) if len(word) < 60 else float("nan")
    except ValueError:
        return float("nan")

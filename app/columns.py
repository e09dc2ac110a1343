"""Tables of columns, in several parts if they do not fit side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from app.sanitise import clean

NAME_CHARS = 24
GAP = 2

Columns = dict[str, list[str]]
"""The cells of each column by its name, all of one length."""


def tables(first: Columns, others: Columns, width: int) -> list[Table]:
    """Return as many tables as it takes to show all columns within a width; `first` are in each of them."""
    taken = sum(_width(*column) for column in first.items())
    return [table(first | part) for part in _parts(others, width - taken)]


def table(columns: Columns) -> Table:
    """Return one table of columns whose cells are text, aligned to the right."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, GAP - 1), show_edge=False)
    for name, cells in columns.items():
        heading = Text(clean(name, NAME_CHARS))
        made.add_column(heading, justify="right", vertical="bottom", width=_width(name, cells) - GAP)
    for row_cells in zip(*columns.values(), strict=True):
        made.add_row(*map(Text, row_cells))
    return made


def _parts(columns: Columns, width: int) -> list[Columns]:
    parts: list[Columns] = [{}]
    for name, cells in columns.items():
        taken = sum(_width(*column) for column in parts[-1].items())
        if parts[-1] and taken + _width(name, cells) > width:
            parts.append({})
        parts[-1][name] = cells
    return parts


def _width(name: str, cells: Sequence[str]) -> int:
    """Return what a column takes: its widest cell, or word of its name, and the space after it."""
    return max(map(cell_len, [*clean(name, NAME_CHARS).split(), *cells])) + GAP

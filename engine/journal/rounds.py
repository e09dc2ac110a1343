"""How a round ended, as a row of the run file."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.journal.storable import json_text

ALL_GROUPS = -1
"""The group number under which the figures over all groups are filed."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """A round in one group, or over all groups; the fields are the columns, in order. Times in seconds.

    The last seven are known only over all groups; see engine.cluster.control.TimeSplit.
    """

    round: int
    grp: int = ALL_GROUPS
    n_answered: int
    n_excluded: int
    n_failed: int
    n_affected: int = 0
    """Members with an entry in the failure ledger in this round."""
    stats: dict[str, int | float | str | None]
    histogram: list[int]
    low: float
    high: float
    started: float
    """Since 1970."""
    seconds: float
    cpu_s: float | None = None
    model_s: float | None = None
    agents_s: float | None = None
    messages_s: float | None = None
    idle_s: float | None = None
    journal_s: float | None = None
    unaffected: dict[str, int | float | str | None] | None = None
    """The stats without the affected agents, over all groups; None if there are none."""

    def row(self) -> tuple[Any, ...]:
        """Return the values in the order of the columns."""
        return tuple(
            json_text(value) if isinstance(value, dict | list) else value
            for value in msgspec.structs.astuple(self)
        )

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Round:
        """Rebuild a round from its row. Raises msgspec.ValidationError or DecodeError."""
        fields = dict(zip(ROUND_COLUMNS, row, strict=True))
        for name in ("stats", "histogram", "unaffected"):
            fields[name] = None if fields[name] is None else msgspec.json.decode(fields[name])
        return msgspec.convert(fields, cls)


ROUND_COLUMNS = Round.__struct_fields__

"""What time it is in a run whose rounds take a fixed time."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

import msgspec
from msgspec import Meta

DAY = 24 * 60
"""Minutes."""

_TIME = Meta(
    pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
    extra_json_schema={"description": 'a time of day such as "08:00"'},
)


class Clock(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When rounds happen."""

    start: Annotated[str, _TIME] = "08:00"
    """When the first round begins."""
    minutes_per_round: Annotated[int, Meta(ge=1, le=DAY)] = 60
    """From the beginning of a round to that of the next, in minutes."""

    def minute(self, round_: int) -> int:
        """Return when a round begins, in minutes since the midnight before the first."""
        hours, minutes = self.start.split(":")
        return int(hours) * 60 + int(minutes) + (round_ - 1) * self.minutes_per_round

    def hour(self, round_: int) -> int:
        """Return the hour, 0 to 23, in which a round begins."""
        return self.minute(round_) % DAY // 60

    @lru_cache(maxsize=64)  # noqa: B019  # equal clocks share it: every agent may ask in every round
    def says(self, round_: int) -> str:
        """Return when a round begins, as in "day 2, 08:30"."""
        day, minute = divmod(self.minute(round_), DAY)
        return f"day {day + 1}, {minute // 60:02}:{minute % 60:02}"

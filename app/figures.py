"""How numbers and durations are written for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from app.sanitise import clean


def number(value: float | str | None, limit: int = 24) -> str:
    """Write a figure of a round: whole numbers whole, others with two decimals or three digits.

    Text is cut to `limit` characters.
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return clean(value, limit)
    if not math.isfinite(value):
        return str(value)
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"


def plural(n: int, noun: str) -> str:
    """Write how many there are of something: "1 round", "1,000 agents"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def seconds(value: float) -> str:
    """Write a measured time, with the digits that matter: "0.25 s", "12.4 s", "310 s"."""
    decimals = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{decimals}f} s"


def duration(value: float) -> str:
    """Write a time to come or gone by, in the two largest units: "45 s", "3 min 20 s", "2 h 5 min"."""
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def rate(value: float) -> str:
    """Write a rate in agents a second."""
    return f"{value:,.0f}/s" if value >= 100 else f"{value:.1f}/s"


def size(n_bytes: int) -> str:
    """Write the size of files: "812 B", "4.1 MB"."""
    value, units = float(n_bytes), ["B", "kB", "MB", "GB", "TB"]
    while value >= 999.5 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.{1 if value < 9.95 and units[0] != 'B' else 0}f} {units[0]}"


def moment(value: datetime) -> str:
    """Write a date and time of day, on this machine's clock."""
    return f"{value.astimezone():%Y-%m-%d %H:%M}"


def percent(part: float, whole: float) -> str:
    """Write a share with two digits: "0.25 %", "12 %"; "-" of nothing."""
    if not whole:
        return "-"
    value = 100 * part / whole
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"


def money(value: float, currency: str) -> str:
    """Write a sum of money: two decimals, or three digits of less than one unit."""
    return f"{number(value)} {clean(currency, 20)}"


def counts(by_kind: Mapping[str, int], whole: int = 0) -> str:
    """Write failures by kind, most frequent first: "3 unparsed (1.5 %), 1 timed out (0.5 %)".

    Without the shares if it is not known what they are shares of.
    """
    ranked = sorted(by_kind.items(), key=lambda item: -item[1])
    parts = [(f"{n:,} {clean(kind, 40)}", percent(n, whole)) for kind, n in ranked if n]
    return ", ".join(f"{part} ({share})" if whole else part for part, share in parts)

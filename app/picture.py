"""A picture of the answers for the terminal: one small histogram a round, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from app import figures
from engine.cluster.control import RoundReport

PANEL_WIDTH = 22
MAX_PANELS = 4
MAX_BINS = 20
EIGHTHS = ("", *"▏▎▍▌▋▊▉")
FULL = "█"


def picture(reports: Sequence[RoundReport], width: int = 80, *, blocks: bool = True) -> list[str]:
    """Return the lines of the picture; none if no round has a histogram.

    Bars are shares of the answers and have one scale in all panels. Only rounds on the last round's axis are
    shown. With `blocks` False, nothing but ASCII is used.
    """
    panels = _chosen(reports, width)
    if not panels:
        return []
    last = panels[-1].outcome
    fold = -(-len(last.histogram) // MAX_BINS)
    shares = [_shares(panel.outcome.histogram, fold) for panel in panels]
    labels = _labels(last.low, last.high, len(last.histogram), fold)
    margin = max(map(len, labels))
    bar = max(4, min(PANEL_WIDTH, (width - margin) // len(panels) - len("  100% ")))
    top = max(max(column) for column in shares) or 1.0
    lines = [" " * margin + "".join(f"  {f'round {panel.round:,}':<{bar + 5}}" for panel in panels)]
    for row, label in enumerate(labels):
        cells = (_cell(column[row], top, bar, blocks) for column in shares)
        lines.append(f"{label:>{margin}}" + "".join(f"  {cell:<{bar + 5}}" for cell in cells))
    return [line.rstrip() for line in lines]


def _chosen(reports: Sequence[RoundReport], width: int) -> list[RoundReport]:
    drawn = [report for report in reports if report.outcome.histogram]
    if not drawn:
        return []
    axis = _axis(drawn[-1])
    drawn = [report for report in drawn if _axis(report) == axis]
    n = max(1, min(MAX_PANELS, len(drawn), width // PANEL_WIDTH))
    return [drawn[round(i * (len(drawn) - 1) / (n - 1))] for i in range(n)] if n > 1 else drawn[-1:]


def _axis(report: RoundReport) -> tuple[float, float, int]:
    return report.outcome.low, report.outcome.high, len(report.outcome.histogram)


def _shares(histogram: list[int], fold: int) -> list[float]:
    n = sum(histogram) or 1
    return [sum(histogram[start : start + fold]) / n for start in range(0, len(histogram), fold)]


def _labels(low: float, high: float, n_bins: int, fold: int) -> list[str]:
    step = (high - low) / n_bins
    edges = [figures.number(round(low + step * i, 6)) for i in [*range(0, n_bins, fold), n_bins]]
    return [f"{start} to {end}" for start, end in pairwise(edges)]


def _cell(share: float, top: float, width: int, blocks: bool) -> str:
    if not share:
        return ""
    eighths = max(1, round(share / top * width * 8))
    bar = FULL * (eighths // 8) + EIGHTHS[eighths % 8] if blocks else "#" * max(1, round(eighths / 8))
    return f"{bar} {share:.0%}" if share >= 0.005 else f"{bar} <1%"

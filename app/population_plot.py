"""The picture of `simtui population --plot`: target and achieved, side by side, a panel for each table."""

from __future__ import annotations

import math
from typing import Any

from app.sanitise import clean
from engine.errors import UsageError
from engine.installation import how_to_install
from engine.population.report import Comparison, Report

COLUMNS = 3
MOST_BARS = 30
MOST_PANELS = 60
_FORMATS = (".png", ".svg", ".pdf")


def draw(report: Report, file: str) -> None:
    """Draw a report to a file. Raises UsageError if that cannot be done."""
    if not file.lower().endswith(_FORMATS):
        raise UsageError(f"{clean(file)} is no picture", hint=f"a file that ends in {', '.join(_FORMATS)}")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        hint = how_to_install("analysis")
        raise UsageError("a picture needs the package matplotlib", hint=hint) from error
    panels = report.comparisons[:MOST_PANELS]
    rows = max(1, math.ceil(len(panels) / COLUMNS))
    figure = Figure(figsize=(5 * COLUMNS, 3.2 * rows), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axis, comparison in zip(axes, panels, strict=False):
        _panel(axis, comparison)
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    try:
        figure.savefig(file, dpi=120)
    except OSError as error:
        raise UsageError(f"{clean(file)} cannot be written: {error.strerror}") from error


def _panel(axis: Any, comparison: Comparison) -> None:
    figures = comparison.figures[:MOST_BARS]
    places = range(len(figures))
    axis.bar([x - 0.2 for x in places], [f.target for f in figures], 0.4, label="target", color="0.7")
    axis.bar([x + 0.2 for x in places], [f.achieved for f in figures], 0.4, label="achieved", color="C0")
    left_out = len(comparison.figures) - len(figures)
    title = clean(comparison.name, 60) + (f" (and {left_out:,} more)" if left_out else "")
    axis.set_title(_plain(title), fontsize=9)
    labels = [_plain(clean(", ".join(f.labels), 30)) for f in figures]
    axis.set_xticks(list(places), labels, rotation=60, ha="right", fontsize=6)
    axis.tick_params(axis="y", labelsize=7)
    axis.legend(fontsize=6)


def _plain(text: str) -> str:
    """Return text in which matplotlib sees no formula."""
    return text.replace("$", r"\$")

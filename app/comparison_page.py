"""What `simtui compare` prints: what differed in the making of runs, and their rounds side by side."""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import groupby

from rich.console import Console

from app import figures, runs
from app.columns import Columns, tables
from app.comparison import Compared
from app.sanitise import clean
from engine.compare.comparison import Comparison, RoundComparison
from engine.compare.differences import Difference
from engine.compare.inference import Interval, Share
from engine.journal.run_directory import RunDirectory
from engine.preset.wording import show

MAX_OPTIONS = 10
MAX_VALUE = 30
MINUS = "\N{NO-BREAK SPACE}-\N{NO-BREAK SPACE}"
"""Headings are broken at spaces."""


def print_comparison(console: Console, compared: Compared) -> None:
    """Print what differed in the making, then each run against the first, round by round."""
    for letter, run in zip(string.ascii_uppercase, compared.runs, strict=False):
        name = clean(runs.name_of(RunDirectory(run.directory)))
        console.print(f"{letter}  {name} ({clean(run.state)})", soft_wrap=True)
    _print_differences(console, "Settings", compared.settings)
    _print_differences(console, "Versions, models, machines", compared.circumstances)
    for problem in compared.problems:
        console.print(clean(problem, lines=True), soft_wrap=True)
    for comparison in compared.comparisons:
        _print_rounds(console, comparison)


def _print_differences(console: Console, title: str, found: Sequence[Difference]) -> None:
    console.print(f"\n{title}{'' if found else ': the same'}", style="bold")
    for each in found:
        console.print(f"  {clean(each.key, 100)}", soft_wrap=True)
        for letter, value in zip(string.ascii_uppercase, each.values, strict=False):
            console.print(f"    {letter}  {show(value, console.width - 8)}", soft_wrap=True)


def _print_rounds(console: Console, comparison: Comparison) -> None:
    a, b = string.ascii_uppercase[comparison.a], string.ascii_uppercase[comparison.b]
    console.print(f"\n{b} against {a}", style="bold")
    if not comparison.rounds:
        console.print("There is no round that both have finished.")
        return
    for part in tables(*_columns(comparison.rounds, a, b), console.width):
        console.print(part)
        console.print()
    for each in comparison.rounds:
        if each.choices is not None:
            _print_options(console, each, a, b)
    for line in _notes(comparison.rounds, a, b):
        console.print(line)


def _columns(rounds: Sequence[RoundComparison], a: str, b: str) -> tuple[Columns, Columns]:
    """Return the column of round numbers and the others, of which only those that say something."""
    numbers, choices = [each.numbers for each in rounds], [each.choices for each in rounds]
    columns = {
        f"mean {a}": [figures.number(n.a.mean if n else None) for n in numbers],
        f"mean {b}": [figures.number(n.b.mean if n else None) for n in numbers],
        f"{b}{MINUS}{a}": [figures.number(n.difference if n else None) for n in numbers],
        "95% interval": [_interval(n.interval if n else None) for n in numbers],
        "g": [_rounded(n.g if n else None) for n in numbers],
        "V": [_rounded(c.cramers_v if c else None) for c in choices],
        "p": [_p(each.p_adjusted) for each in rounds],
        f"n {a}": [_n(each, 0) for each in rounds],
        f"n {b}": [_n(each, 1) for each in rounds],
        "same": [figures.percent(each.n_same, each.n_both) for each in rounds],
        "KS p": [_p(n.ks_p if n else None) for n in numbers],
    }
    telling = {name: cells for name, cells in columns.items() if any(cell != "-" for cell in cells)}
    return {"round": [f"{each.round:,}" for each in rounds]}, telling


def _print_options(console: Console, each: RoundComparison, a: str, b: str) -> None:
    assert each.choices is not None, "asked for rounds with choices only"
    shown: Sequence[Share] = each.choices.options[:MAX_OPTIONS]
    columns: Columns = {
        a: [f"{option.share_a:.1%}" for option in shown],
        b: [f"{option.share_b:.1%}" for option in shown],
        f"{b}{MINUS}{a}": [f"{option.difference:+.1%}" for option in shown],
        "95% interval": [f"{option.interval.low:+.1%} to {option.interval.high:+.1%}" for option in shown],
    }
    names = [clean(option.name, MAX_VALUE) for option in shown]
    for part in tables({f"round {each.round}": names}, columns, console.width):
        console.print(part)
    left = len(each.choices.options) - len(shown)
    console.print(f"... and {left} more options\n" if left else "")


def _notes(rounds: Sequence[RoundComparison], a: str, b: str) -> list[str]:
    """Say what was tested and how, what was not, and what the tests rest on."""
    notes = ["same: agents that gave the same answer in both runs."]
    made = {found.test for each in rounds if (found := each.numbers or each.choices) and found.test}
    if made:
        notes.append(f"Tests: {', '.join(sorted(made))}; p adjusted for {len(rounds)} rounds (Holm).")
    if any(each.numbers and each.numbers.interval for each in rounds):
        notes.append("Interval: of the difference of means, Welch. g: the difference in standard deviations.")
        notes.append("KS p: whether the distributions differ (Kolmogorov-Smirnov), not adjusted.")
    if any(each.choices for each in rounds):
        notes.append("Intervals of shares: Newcombe. V: Cramer's, 0 to 1.")
    if any(each.unit == "group" for each in rounds):
        notes.append(
            "After round 1, n counts groups: their means are compared, for members depend on each other."
        )
    elif any(each.p is not None and each.round > 1 for each in rounds):
        notes.append(
            "After round 1, answers of a group rest on what its members heard of each other: n agents are "
            "then fewer independent ones, and p and interval are too small. Runs with 5 groups or more are "
            "compared by groups."
        )
    silent = (each for each in rounds if not (each.numbers or each.choices))
    for (kind_a, kind_b), group in groupby(silent, key=lambda each: (each.kind_a, each.kind_b)):
        numbers = [each.round for each in group]
        notes.append(f"{_rounds(numbers)} not compared: {kind_a} in {a}, {kind_b} in {b}.")
    return notes


def _rounds(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"Round {numbers[0]}"
    span = f"ounds {numbers[0]} to {numbers[-1]}"
    whole = len(numbers) == numbers[-1] - numbers[0] + 1
    return f"R{span}" if whole else f"{len(numbers)} of r{span}"


def _n(each: RoundComparison, side: int) -> str:
    if each.numbers is not None:
        return f"{(each.numbers.a, each.numbers.b)[side].n:,}"
    return f"{(each.n_a, each.n_b)[side]:,}"


def _interval(interval: Interval | None) -> str:
    return "-" if interval is None else f"{figures.number(interval.low)} to {figures.number(interval.high)}"


def _rounded(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _p(value: float | None) -> str:
    return "-" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"

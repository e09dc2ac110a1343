"""How close a population comes to what was asked, as a page and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.people_pages import ALIKE
from app.sanitise import clean
from engine.population.network.describe import NetworkFigures, describe
from engine.population.people import People
from engine.population.persona.diversity import of_sample
from engine.population.report import Comparison, Figure

LONG = 24
"""Longer tables are cut to the figures that are furthest off."""
CUT = 8
LABEL_CHARS = 40


def print_report(console: Console, people: People, *, every: bool) -> None:
    """Print target against achieved."""
    report = people.report
    console.print(f"{people.n:,} people, {len(people.names)} attributes", soft_wrap=True)
    if report.comparisons:
        _section(console, "Target and achieved", _overview(report.comparisons))
    for fitting in report.fittings:
        console.print(
            f"Fitting {clean(', '.join(fitting.attributes)) or 'records'}: {fitting.cells:,} combinations, "
            f"{fitting.iterations} rounds, {fitting.deviation:.2g} of the population off at most",
            soft_wrap=True,
        )
    if people.graphs:
        _section(console, "Who knows whom", _networks(people))
    if not people.names:
        console.print(ALIKE, soft_wrap=True)
    if people.template:
        _section(console, "Personas", _personas(people))
    for note in report.notes:
        console.print(clean(note), soft_wrap=True)
    for comparison in report.comparisons:
        cut = len(comparison.figures) > LONG and not every
        title = clean(comparison.name, 200)
        if cut:
            title += f": the {CUT} of {len(comparison.figures):,} figures that are furthest off (--all: all)"
        figures = sorted(comparison.figures, key=_off)[-CUT:][::-1] if cut else comparison.figures
        _section(console, title, _details(comparison, figures, people.n))
        if comparison.source:
            console.print(clean(f"Source: {comparison.source}"), soft_wrap=True)


def report_as_json(people: People) -> str:
    """Return the same as a JSON object."""
    told = people.report.told()
    told["networks"] = [msgspec.to_builtins(figures, str_keys=True) for figures in _described(people)]
    if people.template:
        told["personas"] = msgspec.to_builtins(of_sample(people))
    return json.dumps(told)


def _off(figure: Figure) -> float:
    return abs(figure.achieved - figure.target)


def _overview(comparisons: Sequence[Comparison]) -> Table:
    table = _table("table", "kind", "figures", "furthest off", "people", "chi²", "df", "p", texts=(0, 1, 3))
    for comparison in comparisons:
        worst = comparison.worst
        table.add_row(
            Text(clean(comparison.name, LABEL_CHARS)),
            comparison.kind,
            f"{len(comparison.figures):,}",
            Text(clean(", ".join(worst.labels), LABEL_CHARS)),
            f"{worst.achieved - worst.target:+,.1f}",
            f"{comparison.chi_square:,.2f}",
            f"{comparison.freedom:,}",
            f"{comparison.p_value:.3f}",
        )
    return table


def _described(people: People) -> list[NetworkFigures]:
    graphs = dict(people.graphs)
    if len(graphs) > 1 and people.graph:
        graphs["(all)"] = people.graph
    return [describe(name, graph) for name, graph in graphs.items()]


def _networks(people: People) -> Table:
    found = _described(people)
    table = _table("network", *(figures.name for figures in found), texts=(0,))
    rows: dict[str, list[str]] = {
        "ties": [f"{figures.ties:,}" for figures in found],
        "mean number of neighbours": [f"{figures.mean_degree:,.2f}" for figures in found],
        "largest": [f"{figures.largest_degree:,}" for figures in found],
        "people with none": [f"{figures.without_neighbours:,}" for figures in found],
        "clustering": [f"{figures.clustering:.3f}" for figures in found],
        "people in the largest piece": [f"{figures.largest_component:.1%}" for figures in found],
    }
    for n in found[0].crossing:
        rows[f"ties between {n} workers"] = [f"{figures.crossing[n]:.1%}" for figures in found]
    for name, cells in rows.items():
        table.add_row(name, *cells)
    return table


def _personas(people: People) -> Table:
    found = of_sample(people)
    same = "the same as another" if found.similarity == 1 else "nearly the same as another"
    table = _table("of a sample", f"{found.texts:,}", texts=(0,))
    table.add_row("mean number of words", f"{found.words:.1f}")
    table.add_row("different words (distinct-1)", f"{found.distinct_1:.1%}")
    table.add_row("different pairs of words (distinct-2)", f"{found.distinct_2:.1%}")
    table.add_row(same, f"{found.near_duplicates:.1%}")
    for name, share in found.coverage.items():
        table.add_row(Text(f"name {clean(name, LABEL_CHARS)}"), f"{share:.1%}")
    return table


def _details(comparison: Comparison, figures: Sequence[Figure], n: int) -> Table:
    labels = comparison.attributes
    places = tuple(range(len(labels)))
    table = _table(*labels, "target", "achieved", "off", "off, % of all", texts=places)
    for figure in figures:
        off = round(figure.achieved - figure.target, 6) + 0.0
        words = [Text(clean(word, LABEL_CHARS)) for word in figure.labels]
        numbers = (f"{figure.target:,.1f}", f"{figure.achieved:,}", f"{off:+,.1f}", f"{off / n:+.3%}")
        table.add_row(*words, *numbers)
    return table


def _table(*headings: str, texts: Sequence[int]) -> Table:
    """Return an empty table; `texts` are the columns that are not numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, heading in enumerate(headings):
        words = Text(clean(heading, LABEL_CHARS))
        if place in texts:
            table.add_column(words, no_wrap=heading == "kind", overflow="fold")
        else:
            table.add_column(words, justify="right", no_wrap=True)
    return table


def _section(console: Console, title: str, table: Table) -> None:
    console.print()
    console.print(title, style="bold")
    console.print(table)

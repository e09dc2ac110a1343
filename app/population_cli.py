"""`simtui sample` and `simtui population`: who would take part, looked at without running anything."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.population.people import People
    from engine.preset.schema import Preset

MAX_SHOWN = 1000


@click.command()
@click.argument("preset")
@click.option(
    "-n", "count", type=click.IntRange(1, MAX_SHOWN), default=5, show_default=True, help="How many people."
)
@click.option("--person", "numbers", type=click.IntRange(0), multiple=True, help="This one; may be repeated.")
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Change a setting; may be repeated.")
@click.option("--write", is_flag=True, help="Have the preset's model write their personas first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def sample(
    *, preset: str, count: int, numbers: tuple[int, ...], sets: tuple[str, ...], write: bool, as_json: bool
) -> None:
    """Print some people of PRESET's population, drawn at random: what is known of them, and their persona.

    The same preset and seed show the same people. They are numbered from 0. What a model writes for them is
    kept, and a run with the same question to the same model takes it from there.
    """
    from app import people_pages
    from app.console import console
    from engine.errors import UsageError
    from engine.population.streams import shuffled, stream

    people, loaded = _build(preset, sets)
    if beyond := [i for i in numbers if i >= people.n]:
        raise UsageError(f"there is no person {beyond[0]:,}", hint=f"0 to {people.n - 1:,}")
    shown = list(numbers) or sorted(shuffled(people.n, stream(loaded.seed, "sample"))[:count].tolist())
    if write:
        people = _written(loaded, shown)
    if as_json:
        click.echo(people_pages.people_as_json(people, shown))
    else:
        people_pages.print_people(console(sys.stdout), people, shown)


@click.command()
@click.argument("preset")
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Change a setting; may be repeated.")
@click.option("--all", "every", is_flag=True, help="Print all figures of long tables.")
@click.option("--plot", metavar="FILE", help="Draw it, too: .png, .svg or .pdf (needs simtui[analysis]).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def population(preset: str, sets: tuple[str, ...], every: bool, plot: str | None, as_json: bool) -> None:
    """Tell how close PRESET's population comes to what the preset asks for.

    For every quota, margin, joint and conditional table: target and achieved number of people, the largest
    deviation, and a chi-square; how well tables could be fitted to each other; and who knows how many.
    """
    from app import population_pages
    from app.console import console

    people, _ = _build(preset, sets)
    if plot is not None:
        from app.population_plot import draw

        draw(people.report, plot)
    if as_json:
        click.echo(population_pages.report_as_json(people))
    else:
        population_pages.print_report(console(sys.stdout), people, every=every)


def _build(preset: str, sets: tuple[str, ...]) -> tuple[People, Preset]:
    from app import settings
    from engine.population.build import build

    loaded = settings.load(preset, sets).preset
    return build(loaded.population, loaded.seed), loaded


def _written(preset: Preset, shown: Sequence[int]) -> People:
    """Have a model write personas, and tell on standard error what became of that."""
    import platformdirs

    from app import people_summary
    from app.console import console
    from app.sanitise import clean
    from engine.cluster.sample_writing import write_personas
    from engine.errors import UsageError

    persona = preset.population.persona
    if persona is None or persona.writer is None:
        raise UsageError(
            "no model writes the personas of this preset",
            where="--write",
            hint="[population.persona.writer] with a prompt has one do so; docs/populations.md shows how.",
        )
    page = console(sys.stderr)
    page.print(clean(f"model {persona.writer.model} writes {len(shown)} personas ..."))
    cache = platformdirs.user_cache_path("simtui", ensure_exists=True)
    people, report = write_personas(preset, shown, cache, lambda text: page.print(clean(text)))
    people_summary.print_writing(page, report)
    return people

"""`simtui estimate`: what a run will take, from a small sample of it that is really run."""

from __future__ import annotations

import click


@click.command()
@click.argument("preset")
@click.option("--sample", default=40, show_default=True, type=click.IntRange(min=2), help="Agents to run.")
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Change a setting; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, all else on stderr.")
@click.pass_context
def estimate(ctx: click.Context, preset: str, sample: int, sets: tuple[str, ...], as_json: bool) -> None:
    """Tell the tokens, time and money that PRESET will take, each with an interval.

    Runs a few agents through up to three rounds on the preset's own models, which costs what it costs, and
    keeps nothing of it but the figures. What the estimate rests on is told with it.
    """
    from app.estimate import run

    ctx.exit(run(preset, sample, sets, as_json=as_json))

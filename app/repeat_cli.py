"""`simtui replay` and `simtui branch`: runs made out of the journal of another run."""

from __future__ import annotations

import click

MAX_SHOWN = 20


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@click.pass_context
def replay(ctx: click.Context, run: str, as_json: bool) -> None:
    """Run the agents of RUN again without any model, each reply taken from the journal.

    Says whether every prompt and every finished round comes out the same, bit for bit; if the code, the
    preset or a library has changed, which agents ask something else now, with both prompts. Exit code 1 if
    anything differs. RUN itself is not changed.
    """
    import json

    from app import runs
    from app.replay import replay as repeat

    found = repeat(runs.find_run(run))
    if as_json:
        click.echo(json.dumps(found.as_json()))
    else:
        click.echo(found.as_text(MAX_SHOWN), color=False)
    ctx.exit(0 if found.agrees else 1)


@click.command()
@click.argument("run")
@click.option("--round", "round_", type=click.IntRange(1), required=True, help="The last round to share.")
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="What is different from then on.")
@click.option("--out", metavar="DIR", help="Directory to make for the new run; else one beside that of RUN.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, all else on stderr.")
@click.option("--no-color", is_flag=True, help="Use no colours.")
@click.pass_context
def branch(
    ctx: click.Context,
    *,
    run: str,
    round_: int,
    sets: tuple[str, ...],
    out: str | None,
    as_json: bool,
    no_color: bool,
) -> None:
    """Start a run that shares the first rounds of RUN and goes on with some settings changed.

    \b
    simtui branch guess_average-20260102-030405-ab12 --round 3 --set model.temperature=0.2
    """
    from app import runs
    from app.branch import make_branch
    from app.run_cli import Options
    from app.run_cli import run as go_on

    made = make_branch(runs.find_run(run), round_, sets, out)
    click.echo(f"branch of {run} after round {round_}: {made.path}", err=True)
    ctx.exit(go_on(Options(str(made.path), json=as_json, no_color=no_color, resume=True)))

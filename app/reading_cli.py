"""The commands that read runs: `runs`, `show`, `export`, `compare`, `verify`. None of them changes a run."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import click

from app.sanitise import clean


@click.command("runs")
@click.argument("folders", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_runs(folders: tuple[str, ...], as_json: bool) -> None:
    """List runs, newest first.

    Those in the usual place and in the folders given; each with its state, how far it is, how many
    agents and tokens, when it started, how long it took, and the command that goes on with it. A run has
    died if it was to run on, but no process runs it.
    """
    from app import listing
    from app.console import console

    found, now = listing.list_runs(folders), datetime.now(UTC)
    if as_json:
        click.echo(listing.as_json(found, now))
    else:
        listing.print_listing(console(sys.stdout), found, now)


class AgentNumber(click.IntRange):
    """The number of an agent."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or say that agents have no other name."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            given = clean(value, 40)
            self.fail(f"{given!r} is no number; agents have no names but are numbered from 0", param, ctx)


@click.command()
@click.argument("run")
@click.argument("agent", type=AgentNumber(min=0), required=False)
@click.option(
    "--round", "round_", metavar="K", type=click.IntRange(min=1), help="Of an agent: this round alone."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(run: str, agent: int | None, round_: int | None, as_json: bool) -> None:
    """Tell what a run was and how it went, or the life of an agent in it.

    The life of an agent is who it is (attributes and persona), each prompt as the model saw it, each reply,
    the value read from it, messages and failures. Agents are numbered from 0.
    """
    from app import story, summary
    from app.console import console
    from app.runs import find_run
    from app.streams import can_draw_blocks

    found, page, now = find_run(run), console(sys.stdout), datetime.now(UTC)
    if agent is None:
        if round_ is not None:
            raise click.UsageError("--round belongs to an AGENT")
        told = summary.summarise(found)
        if as_json:
            click.echo(summary.as_json(told, now))
        else:
            summary.print_summary(page, told, now, blocks=can_draw_blocks(sys.stdout))
        return
    life = story.read_story(found, agent, round_)
    if as_json:
        click.echo(story.as_json(found, life))
    else:
        story.print_story(page, life)


@click.command()
@click.argument("run")
@click.option("--format", "form", type=click.Choice(["csv", "jsonl", "parquet", "arrow"]), required=True)
@click.option("--table", default="answers", show_default=True, help="A table or view of the run file.")
@click.option("--out", metavar="FILE", help="File to make; without, csv and jsonl go to standard output.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def export(run: str, form: str, table: str, out: str | None, force: bool) -> None:
    """Write a table of RUN as CSV, JSON Lines, Parquet or Arrow.

    docs/files.md describes the tables and views: answers, replies, rounds, failures, usage and others. FILE
    appears when it is whole. Parquet and Arrow need pyarrow, of the optional part [analysis].
    """
    from pathlib import Path

    from app import export as exporting
    from app.runs import find_run
    from engine.journal.export import Format

    if out is None:
        exporting.to_stdout(find_run(run), table, Format(form), sys.stdout)
    else:
        told = exporting.to_file(find_run(run), table, Format(form), Path(out).expanduser(), force=force)
        click.echo(clean(told), err=True)


@click.command()
@click.argument("run", metavar="RUN RUN...", nargs=-1, required=True)
@click.option(
    "--seed", metavar="N", default=0, type=click.IntRange(0), show_default=True, help="Of permutation tests."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(run: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Tell in what runs differ, and by how much.

    Settings, versions and models first; then the answers of each RUN against those of the first: round by
    round, means of numbers or shares of choices, their difference with its 95% interval, the size of the
    effect, and a test, with n.
    """
    from app import comparison
    from app.comparison_page import print_comparison
    from app.console import console

    found = comparison.compare_runs(run, seed)
    if as_json:
        click.echo(comparison.as_json(found))
    else:
        print_comparison(console(sys.stdout), found)


@click.command()
@click.argument("run")
@click.option(
    "--no-replay", is_flag=True, help="Leave the replay out, which takes as long as the run's own code."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def verify(ctx: click.Context, run: str, no_replay: bool, as_json: bool) -> None:
    """Check that the files of RUN are whole and agree.

    Every value is read from its reply once more, every prompt compared with its hash, counts are added up,
    and the run's code is run again on the replies. Lists what is wrong, with exit code 1, and what could not
    be checked.
    """
    from app import verification
    from app.console import console
    from app.runs import find_run
    from engine.errors import ExitCode

    found = find_run(run)
    checks = verification.verify_run(found, by_replay=not no_replay)
    if as_json:
        click.echo(verification.as_json(found, checks))
    else:
        verification.print_checks(console(sys.stdout), checks)
    ctx.exit(ExitCode.DONE if verification.is_sound(checks) else ExitCode.FAILED)

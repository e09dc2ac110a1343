"""The console script `simtui`: options and subcommands; whatever they need is imported when they run.

Nothing here may import more than click at the top: `simtui --help` has 0.3 s.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import datetime
from typing import NoReturn

import click

from app import streams
from app.advice import Commands, advise
from app.catalogue import presets, scenarios
from app.estimate_cli import estimate
from app.new_scenario import new
from app.population_cli import population, sample
from app.presets_cli import check, schema
from app.reading_cli import compare, export, list_runs, show, verify
from app.repeat_cli import branch, replay
from app.sanitise import clean
from engine.errors import ExitCode, SimtuiError

LAYOUT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _print_version(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        click.echo(f"simtui {version('simtui')}")
        ctx.exit()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings=LAYOUT,
    epilog="Exit codes: 0 done, 1 the run failed, 2 wrong usage or preset, 3 stopped by a budget, "
    "130 interrupted.",
)
@click.option(
    "--run", "preset", metavar="PRESET", help="Run a preset: a TOML file, or a name from `presets`."
)
@click.option(
    "--resume", "resumed", metavar="RUN", help="Go on with a run that was stopped or died, where it stood."
)
@click.option(
    "--trust",
    metavar="FILE",
    multiple=True,
    help="Execute this Python file, which holds a scenario; goes with every command.",
)
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Change a setting; may be repeated.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Short for --set seed=N.")
@click.option(
    "--out", metavar="DIR", help="Directory to make for this run; else one in the user's data folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, all else on stderr.")
@click.option("-q", "--quiet", is_flag=True, help="While the run goes, say nothing but warnings and errors.")
@click.option("-v", "--verbose", is_flag=True, help="Tell what each round cost in processor time, too.")
@click.option("--no-color", is_flag=True, help="Use no colours; so does the environment variable NO_COLOR.")
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit.",
)
@click.pass_context
def cli(
    ctx: click.Context,
    *,
    preset: str | None,
    resumed: str | None,
    trust: tuple[str, ...],
    sets: tuple[str, ...],
    seed: int | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    no_color: bool,
) -> None:
    """Simulate populations of language-model agents.

    \b
    simtui --run presets/guess_average.toml
    simtui --run guess_average_million --set population.size=10000 --json
    """
    if trust:
        _execute(trust)
    if preset is not None and resumed is not None:
        raise click.UsageError("--run and --resume exclude each other")
    if resumed is not None and (out or seed is not None):
        raise click.UsageError("a resumed run keeps its directory and its seed")
    subject = preset or resumed
    if subject is None:
        if any((sets, seed is not None, out, as_json, quiet, verbose, no_color)):
            raise click.UsageError("these options belong to --run PRESET or --resume RUN")
        if ctx.invoked_subcommand is None:
            click.echo(ctx.get_help())
        return
    if ctx.invoked_subcommand is not None:
        raise click.UsageError(f"a run and {ctx.invoked_subcommand} exclude each other")
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other")
    from app.narrator import Verbosity
    from app.run_cli import Options, run

    if seed is not None:
        sets = (*sets, f"seed={seed}")
    verbosity = Verbosity.QUIET if quiet else Verbosity.VERBOSE if verbose else Verbosity.NORMAL
    ctx.exit(run(Options(subject, sets, out, as_json, verbosity, no_color, resumed is not None)))


def _execute(files: tuple[str, ...]) -> None:
    from pathlib import Path

    from engine.scenarios import trusted

    for file in files:
        trusted.load(Path(file).absolute())


COMMANDS = (
    check,
    schema,
    presets,
    scenarios,
    new,
    sample,
    population,
    list_runs,
    show,
    export,
    compare,
    verify,
    replay,
    branch,
    estimate,
)

for command in COMMANDS:
    command.context_settings = LAYOUT
    cli.add_command(command)


def main() -> NoReturn:
    """Run the command line and exit with its code; no error ever shows as a traceback."""
    streams.secure()
    sys.exit(_outcome())


def _outcome() -> int:
    try:
        return int(cli.main(prog_name="simtui", standalone_mode=False) or 0)
    except click.ClickException as error:
        return _usage(error)
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except SimtuiError as error:
        from app.console import console
        from app.report import print_error

        print_error(console(sys.stderr), error)
        return error.exit_code
    except OSError as error:
        return _full(error) if error.errno in streams.FULL else _crash(error)
    except Exception as error:
        return _crash(error)


def _full(error: OSError) -> int:
    """Tell of output that no more could be written to; that of the interpreter's exit is lost as well."""
    streams.silence(sys.stdout)
    with suppress(OSError):
        click.echo(f"error: the output cannot be written: {error.strerror}", err=True)
    return ExitCode.FAILED


def _crash(error: Exception) -> int:
    from app import crash

    click.echo(crash.report(error, datetime.now()), err=True)
    return ExitCode.FAILED


def _usage(error: click.ClickException) -> int:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        click.echo(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help'.", err=True)
    click.echo(f"error: {clean(advise(error), lines=True)}", err=True)
    return error.exit_code


if __name__ == "__main__":
    main()

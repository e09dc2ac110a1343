"""`simtui check` and `simtui schema`: presets looked at without running anything."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from app import figures
from app.sanitise import clean

if TYPE_CHECKING:
    from engine.preset.load import Loaded
    from engine.preset.problems import PresetError

MAX_MESSAGE = 20_000
MAX_SHOWN = 200
"""Characters of a value in a listing; --json has it whole."""


@click.command()
@click.argument("preset")
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Change a setting; may be repeated.")
@click.option("--show-origin", is_flag=True, help="List every setting, its value and where that came from.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def check(ctx: click.Context, preset: str, sets: tuple[str, ...], show_origin: bool, as_json: bool) -> None:
    """Tell whether a preset, a TOML file or a name from `simtui presets`, can be run.

    The files that it names are read, and the population is built. Exits with 0 if it can be run, else with 2
    after telling everything that is wrong with it.
    """
    from app import settings
    from engine.preset.problems import PresetError

    try:
        loaded = settings.load(preset, sets)
        settings.check_what_it_needs(loaded, preset)
    except PresetError as error:
        if as_json:
            click.echo(json.dumps({"ok": False, "problems": _problems(error)}))
        else:
            click.echo(f"error: {clean(error, MAX_MESSAGE, lines=True)}", err=True)
        ctx.exit(error.exit_code)
    if as_json:
        click.echo(json.dumps(_summary(loaded), default=str))
    else:
        _tell(loaded, show_origin)


@click.command()
def schema() -> None:
    """Print the JSON Schema of presets, for editors that complete and check TOML."""
    from engine.preset.json_schema import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


def _tell(loaded: Loaded, show_origin: bool) -> None:
    from engine.preset.wording import path_text, show_at

    preset = loaded.preset
    parts = (
        f"scenario {preset.scenario.__struct_config__.tag}",
        figures.plural(preset.scenario.rounds, "round"),
        figures.plural(preset.population.size, "agent"),
        f"model {preset.model.__struct_config__.tag}",
    )
    click.echo(f"OK: {', '.join(parts)}")
    for setting in loaded.set_aside:
        click.echo(f"not used: {clean(setting)}")
    if show_origin:
        for path, value, origin in loaded.settings():
            setting = f"{path_text(path)} = {show_at(path, value, MAX_SHOWN)}"
            click.echo(f"{setting:50}  {clean(origin)}")


def _summary(loaded: Loaded) -> dict[str, Any]:
    from engine.preset.wording import is_secret, path_text

    return {
        "ok": True,
        "settings": [
            {
                "key": path_text(path),
                "value": None if is_secret(path) else value,
                "layer": origin.layer,
                "where": origin.where,
            }
            for path, value, origin in loaded.settings()
        ],
        "not_used": loaded.set_aside,
    }


def _problems(error: PresetError) -> list[dict[str, str]]:
    return [
        {"where": p.where, "key": p.key, "what": p.what, "allowed": p.allowed, "nearest": p.nearest}
        for p in error.problems
    ]

"""`simtui presets` and `simtui scenarios`: what there is to run."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import click

from app.sanitise import clean

Entries = Sequence[tuple[str, str]]


@click.command()
def presets() -> None:
    """List the presets that come with simtui."""
    import tomllib

    from app import settings

    _list([(path.stem, tomllib.loads(path.read_text())["description"]) for path in settings.shipped()])


@click.command()
def scenarios() -> None:
    """List the scenarios, and the settings and policies that each offers."""
    from engine.scenarios import registry

    for name in registry.names():
        scenario = registry.find(name)
        click.echo(f"{name}: {_summary(scenario.Settings)}\n")
        click.echo("Settings, in [scenario]:")
        _list(list(_settings(scenario.Settings)))
        click.echo('\nPolicies, in [model] with backend = "policy":')
        _list([(rule, _summary(function)) for rule, function in sorted(scenario.policies.items())])


def _settings(table: Any, inside: str = "") -> Iterator[tuple[str, str]]:
    """Yield each setting with its default, its meaning and what it may be, those of inner tables too."""
    import msgspec

    from engine.preset.docstrings import meanings
    from engine.preset.variants import items, structs
    from engine.preset.wording import allowed, show

    meaning = meanings(table)
    for field in msgspec.structs.fields(table):
        name = inside + field.name
        if inner := structs(field.type):
            yield (f"[[{name}]]" if items(field.type) else f"[{name}]", meaning.get(field.name, ""))
            yield from _settings(inner[0], f"{name}.")
            continue
        default = "needed" if field.required else show(field.default)
        yield (
            f"{name} = {default}",
            f"{meaning.get(field.name, '')} Allowed: {allowed(field.type)}.".strip(),
        )


def _summary(thing: object) -> str:
    return clean((inspect.getdoc(thing) or "").partition("\n\n")[0], 500)


def _list(entries: Entries) -> None:
    formatter = click.HelpFormatter(max_width=100)
    with formatter.indentation():
        formatter.write_dl(entries or [("(none)", "")])
    click.echo(formatter.getvalue(), nl=False)

"""Writes docs/commands.md from the command line's own help, so that the two cannot differ.

Run as `python -m app.reference > docs/commands.md`, which `make docs` does.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from app.main import cli

WIDTH = 100
INTRODUCTION = "The help of every command, written by `make docs`."


def markdown() -> str:
    """Return the whole page."""
    sections = [f"# Commands\n\n{INTRODUCTION}"]
    sections += [f"## {path}\n\n```\n{text}\n```" for path, text in _helps(cli, "simtui", None)]
    return "\n\n".join(sections) + "\n"


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    settings = {**command.context_settings, "terminal_width": WIDTH}
    with click.Context(command, parent, name, **settings) as ctx:
        yield ctx.command_path, command.get_help(ctx)
        if isinstance(command, click.Group):
            for sub in command.commands.values():
                yield from _helps(sub, str(sub.name), ctx)


if __name__ == "__main__":
    print(markdown(), end="")

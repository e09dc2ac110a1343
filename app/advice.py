"""What is said about commands and options that there are not: how it is really written."""

from __future__ import annotations

import shlex

import click

OPTIONS = {"run": "PRESET", "resume": "RUN"}
"""What may be taken for commands, and what they are followed by."""
ASKED = ("help", "version")


TRUST = "--trust"


class Commands(click.Group):
    """A group that knows what somebody meant who names a command that it does not have."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; what goes with every command may stand behind the command's name too."""
        return super().parse_args(ctx, _trust_first(args))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. Raises UsageError with what was probably meant."""
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"there is no command {args[0]!r}{self._meant(*args)}")
        return super().resolve_command(ctx, args)

    def _meant(self, name: str, *rest: str) -> str:
        from app.settings import shipped
        from engine.preset.wording import nearest

        if name in OPTIONS:
            subject = shlex.quote(rest[0]) if rest and rest[0][:1] != "-" else OPTIONS[name]
            return f"; it is an option: simtui --{name} {subject}"
        if name in ASKED:
            return f"; it is an option: simtui --{name}"
        if name.endswith(".toml") or name in {path.stem for path in shipped()}:
            return f"; a preset is played with: simtui --run {shlex.quote(name)}"
        meant = nearest(name, self.commands)
        return f"; did you mean {meant}?" if meant else "; simtui --help lists them all"


def _trust_first(args: list[str]) -> list[str]:
    first: list[str] = []
    others: list[str] = []
    left = iter(args)
    for arg in left:
        value = next(left, None) if arg == TRUST else None
        if value is not None:
            first += [arg, value]
        elif arg.startswith(f"{TRUST}="):
            first.append(arg)
        else:
            others.append(arg)
    return first + others


def advise(error: click.ClickException) -> str:
    """Return what is wrong with a command line, in a few words and with the way out."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None and _takes_settings(error.ctx):
        from engine.preset.variants import home

        key = home(error.option_name.lstrip("-").replace("-", "_")).partition(" ")[0]
        if key:
            return f"no such option {error.option_name!r}; settings are given as --set {key}=..."
    return error.format_message()


def _takes_settings(ctx: click.Context) -> bool:
    return any("--set" in parameter.opts for parameter in ctx.command.params)

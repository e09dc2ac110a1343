"""What is wrong with a preset: one Problem a finding, one PresetError for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.errors import UsageError
from engine.preset.wording import Path, path_text


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One finding, in words fit for the person who wrote the preset."""

    where: str = ""
    """File and line, environment variable or option that holds the value; "" while not yet known."""
    path: Path = ()
    """Key path such as ("population", "size"); empty if the problem is not about a key."""
    what: str
    """What is wrong, with the value given."""
    allowed: str = ""
    """What could stand there, in words."""
    nearest: str = ""
    """The known key or value that was probably meant."""

    @property
    def key(self) -> str:
        """The key path as TOML writes it."""
        return path_text(self.path)

    def __str__(self) -> str:
        named = bool(self.key) and self.where.endswith(f" {self.key}")  # "--set a.b" says it already
        place = "".join(f"{part}: " for part in (self.where, "" if named else self.key) if part)
        meant = f"; did you mean {self.nearest}?" if self.nearest else ""
        allowed = f" (allowed: {self.allowed})" if self.allowed else ""
        return f"{place}{self.what}{meant}{allowed}"


class PresetError(UsageError):
    """A preset cannot be used; `problems` holds every reason, and the message tells them all."""

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        inside = any(not problem.where or problem.where.startswith(name) for problem in problems)
        given = "preset" if inside else "the settings given with preset"
        head = f"{len(problems)} problem{'s' if len(problems) > 1 else ''} in {given} {name}"
        super().__init__("\n  ".join([head, *map(str, problems)]))
        self.problems = list(problems)

"""What one check found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from engine.journal.manifest import Manifest
from engine.journal.reader import Reader
from engine.journal.run_directory import RunDirectory
from engine.journal.storable import Value

MAX_NAMED = 10
"""Problems of one check that are told one by one."""


@dataclass
class Check:
    """A property that was looked at in `n` places."""

    name: str
    n: int = 0
    n_wrong: int = 0
    wrong: list[str] = field(default_factory=list)
    """The first problems, in words."""
    unchecked: list[str] = field(default_factory=list)
    """What could not be checked, and why."""

    @property
    def state(self) -> str:
        """ "wrong", "ok", or "unchecked" if there was nothing to look at."""
        return "wrong" if self.n_wrong else "ok" if self.n or not self.unchecked else "unchecked"

    def add(self, problem: str | None = None, n: int = 1) -> None:
        """Count `n` places looked at together, with what is wrong there, if anything."""
        self.n += n
        if problem is not None:
            self.n_wrong += 1
            if len(self.wrong) < MAX_NAMED:
                self.wrong.append(problem)


@dataclass(frozen=True)
class Subject:
    """A run that is being verified."""

    run: RunDirectory
    file: Reader
    manifest: Manifest | None
    meta: dict[str, Value]

    def fact(self, name: str) -> int | None:
        """Return a number from the table `meta`."""
        value = self.meta.get(name)
        return value if isinstance(value, int) else None


Test = Callable[[Subject], Iterable[Check]]
"""Looks at a run and tells what it found. May raise SimtuiError."""

"""What is wrong with a population: found in its settings before anything is drawn, or in the data while
drawing."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from engine.errors import UsageError

MAX_LISTED = 8


class Fault(NamedTuple):
    """One finding; `path` is the key below `[population]` that it is about."""

    path: tuple[str, ...]
    what: str
    allowed: str = ""
    nearest: str = ""


class PopulationError(UsageError):
    """A population cannot be built as asked."""

    def __init__(self, what: str, *path: str, hint: str = "") -> None:
        super().__init__(what, where=".".join(("population", *path)), hint=hint)
        self.path = path


def unknown(path: tuple[str, ...], name: str, known: Iterable[str]) -> Fault:
    """Return the fault of naming an attribute that there is not."""
    words = list(known)
    return Fault(path, f"there is no attribute {quoted(name)}", listed(words), nearest(name, words))


class BadExpression(ValueError):
    """An expression cannot be read or computed; the text says why."""


class BadTemplate(ValueError):
    """A template cannot be used; the text says why."""


def quoted(word: object) -> str:
    """Return a word in quotes, on one line, cut to a length that fits an error."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(word)[:61])
    return f'"{text if len(text) <= 60 else text[:57] + "..."}"'


def listed(words: Iterable[object]) -> str:
    """Return words in quotes with commas, the first few of them if they are many."""
    given = list(words)
    shown = ", ".join(map(quoted, given[:MAX_LISTED]))
    return f"{shown} and {len(given) - MAX_LISTED} more" if len(given) > MAX_LISTED else shown


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word most like the given one; "" if none is."""
    found = get_close_matches(word, list(known), n=1) if len(word) < 100 else []
    return found[0] if found else ""


def meant(word: str, known: Iterable[str]) -> str:
    """Return the hint of an error about an unknown word."""
    words = list(known)
    near = nearest(word, words)
    return f"did you mean {quoted(near)}?" if near else f"known: {listed(words)}" if words else ""

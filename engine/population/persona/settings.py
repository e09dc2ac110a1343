"""The `[population.persona]` table: how people are put into words."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Template = Annotated[str, Meta(min_length=1, max_length=20_000)]


class Writer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[population.persona.writer]`: personas that a model writes."""

    prompt: Template
    """What the model is told: a Jinja template over the attributes."""
    model: str = "default"
    """The model that writes: a name from `[models]`, or "default" for `[model]`."""
    share: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """Share of the people whose persona is written; the others get the template's."""
    names: tuple[str, ...] = ()
    """Attributes whose values the text has to name, none of them falsely."""
    min_words: Annotated[int, Meta(ge=1, le=2000)] = 20
    """Shortest text."""
    max_words: Annotated[int, Meta(ge=1, le=2000)] = 200
    """Longest text."""
    language: Literal["any", "de", "en", "es", "fr", "it", "nl", "pt"] = "en"
    """The language that the text has to be in."""
    age: str | None = None
    """The attribute that is the age in years; the text may name no other age."""
    gender: str | None = None
    """The attribute that is the gender; the text may not speak of the person as of another."""
    similarity: Annotated[float, Meta(gt=0, le=1)] = 0.8
    """A text whose likeness to another (share of the phrases in common) is above this is written again."""
    retries: Annotated[int, Meta(ge=0, le=20)] = 4
    """How often a text is asked for again before the template's is taken."""


class Persona(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[population.persona]`: who they are, in words."""

    template: Template
    """A Jinja template over the attributes, for example "You are {{ age }} years old."."""
    writer: Writer | None = None
    """A model that writes personas."""

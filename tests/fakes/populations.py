"""Populations from the text of their table."""

import tomllib

import msgspec

from engine.population.build import build
from engine.population.people import People
from engine.population.settings import Population


def settings(text: str, size: int = 1000) -> Population:
    """Return settings; `text` is what stands below `[population]`."""
    return msgspec.convert({"size": size, **tomllib.loads(text)}, Population)


def people(text: str, size: int = 1000, seed: int = 1) -> People:
    """Build a population."""
    return build(settings(text, size), seed)


def shares(name: str, extra: str = "", **of: float) -> str:
    """Return the text of an attribute from shares."""
    told = ", ".join(f'"{word}" = {share}' for word, share in of.items())
    return f'[attributes.{name}]\nfrom = "shares"\nshares = {{ {told} }}\n{extra}\n'

"""People as pages: what is known of each, for reading and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from rich.console import Console
from rich.text import Text

from app.sanitise import clean
from engine.population.people import People

MOST_NEIGHBOURS = 12
ALIKE = (
    "The preset describes no attributes: people differ by their numbers alone. [population.attributes.NAME] \
describes them; docs/populations.md shows how, `simtui sample school_class` an example."
)


def print_people(console: Console, people: People, shown: Sequence[int]) -> None:
    """Print what is known of people, and their personas."""
    if not people.names:
        console.print(ALIKE, soft_wrap=True)
        if not people.graph:
            return
    for place, i in enumerate(shown):
        if place:
            console.print()
        console.print(f"Person {i:,} of {people.n:,}", style="bold")
        known = people.person(i)
        width = max((len(name) for name in known), default=0)
        for name, value in known.items():
            console.print(f"  {clean(name):{width}}  {clean(_shown(value))}", soft_wrap=True)
        if people.graph:
            known_by = people.neighbours(i).tolist()
            more = ", ..." if len(known_by) > MOST_NEIGHBOURS else ""
            numbers = ", ".join(map(str, known_by[:MOST_NEIGHBOURS]))
            console.print(
                f"  knows {len(known_by)}: {numbers}{more}" if known_by else "  knows nobody", soft_wrap=True
            )
        if persona := people.persona(i):
            console.print(Text(clean(persona, lines=True)))


def people_as_json(people: People, shown: Sequence[int]) -> str:
    """Return the same as a JSON object."""
    found: list[dict[str, Any]] = [
        {"person": i, "attributes": people.person(i), "persona": people.persona(i)} for i in shown
    ]
    if people.graph:
        for one, i in zip(found, shown, strict=True):
            one["neighbours"] = people.neighbours(i).tolist()
    return json.dumps({"size": people.n, "people": found}, default=str)


def _shown(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return str(value)
        case float():
            return f"{value:,.10g}"
        case date():
            return value.isoformat()
    return str(value)

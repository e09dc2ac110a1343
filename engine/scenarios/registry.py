"""Which scenarios there are: built in, in a trusted file, or of an installed package.

A package offers a scenario through an entry point, in its pyproject.toml:

    [project.entry-points."simtui.scenarios"]
    market = "my_package.market:Market"
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from engine.errors import UsageError
from engine.scenarios import trusted
from engine.scenarios.scenario import Scenario

GROUP = "simtui.scenarios"
BUILT_IN = {
    "chat_room": "engine.scenarios.chat_room:ChatRoom",
    "dictator": "engine.scenarios.dictator:Dictator",
    "double_auction": "engine.scenarios.double_auction:DoubleAuction",
    "el_farol": "engine.scenarios.el_farol:ElFarol",
    "grid_town": "engine.scenarios.grid_town:GridTown",
    "guess_average": "engine.scenarios.guess_average:GuessAverage",
    "negotiation": "engine.scenarios.negotiation:Negotiation",
    "opinions": "engine.scenarios.opinions:Opinions",
    "prisoners_dilemma": "engine.scenarios.prisoners_dilemma:PrisonersDilemma",
    "public_goods": "engine.scenarios.public_goods:PublicGoods",
    "social_feed": "engine.scenarios.social_feed:SocialFeed",
    "spread": "engine.scenarios.spread:Spread",
    "trust": "engine.scenarios.trust:Trust",
    "ultimatum": "engine.scenarios.ultimatum:Ultimatum",
    "voting": "engine.scenarios.voting:Voting",
}


def names() -> list[str]:
    """Return the names a preset may use in `[scenario] name`."""
    return sorted({*BUILT_IN, *trusted.scenarios(), *installed()})


def find(name: str) -> type[Scenario]:
    """Return the scenario class of that name; a built-in one before any other, and imported only now.

    Raises KeyError if there is none, and UsageError if what a package offers cannot be used.
    """
    if name not in BUILT_IN and name in (in_files := trusted.scenarios()):
        return in_files[name]
    if name not in BUILT_IN:
        return _load(installed()[name])
    module, _, attribute = BUILT_IN[name].partition(":")
    found: type[Scenario] = getattr(import_module(module), attribute)
    return found


@cache
def installed() -> Mapping[str, EntryPoint]:
    """Return what installed packages offer; looked up once, for that takes milliseconds."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _load(entry: EntryPoint) -> type[Scenario]:
    try:
        found = entry.load()
    except Exception as error:  # any module of any package
        raise _unusable(entry, f"cannot be imported: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Scenario)):
        raise _unusable(entry, "is not a subclass of simtui.Scenario")
    if not hasattr(found, "Settings") or found.Settings.__struct_config__.tag != entry.name:
        raise _unusable(entry, f'has no Settings with tag="{entry.name}"')
    return found


def _unusable(entry: EntryPoint, why: str) -> UsageError:
    package = entry.dist.name if entry.dist else "?"
    return UsageError(
        f"scenario {entry.name!r} {why}",
        where=f"{entry.value} of the installed package {package}",
        hint="Mend the package or uninstall it.",
    )

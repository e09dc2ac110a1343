"""The preset as structs: what each TOML table may hold, and what each setting means."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from engine.agents.memories.settings import AnyMemory
from engine.models.settings import Model
from engine.population.settings import Population
from engine.scenarios.scenario import ScenarioSettings

DEFAULT_MODEL = "default"
"""The name of `[model]`."""

_NAME = r"^[A-Za-z0-9_-]{1,40}(?![\s\S])"  # "$" would let a line break pass
_SAMPLE = r"^(all|none|1 in [1-9][0-9]{0,8})(?![\s\S])"


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the preset; keys that it does not name are errors."""


class Slice(Table, frozen=True, kw_only=True):
    """`[[slices]]`: a part of the population that thinks, or is asked, differently.

    Members are those for whom `where` holds, or drawn by the run's seed, in exact proportion.
    """

    name: Annotated[str, Meta(pattern=_NAME)]
    """Short name, for tables and the journal."""
    share: Annotated[float, Meta(gt=0, le=1)] | None = None
    """Share of the agents, or of those for whom `where` holds; what all slices leave over uses `[model]`."""
    where: Annotated[str, Meta(min_length=1, max_length=2000)] | None = None
    """A condition over attributes of the population, such as "age >= 65 and job != 'retired'". Who fits
    several slices belongs to the first of them; shares without a condition are drawn among those left."""
    model: Annotated[str, Meta(pattern=_NAME)] = DEFAULT_MODEL
    """The model that its members use: a name from `[models]`."""
    scenario: dict[str, Any] = {}
    """Settings of `[scenario]` that are different for its members, such as { prompt = "think" }."""


class Answers(Table, frozen=True, kw_only=True):
    """`[answers]`: what happens when a reply does not hold the answer asked for."""

    retries: Annotated[int, Meta(ge=0, le=20)] = 2
    """How often an agent is asked again, told what was wrong with its reply."""
    on_failure: Literal["exclude", "fallback", "last", "fail"] = "exclude"
    """After the last retry: leave the agent out of this round, take `fallback`, take the agent's own last
    answer, or stop the run."""
    fallback: float | str | None = None
    """The value taken with on_failure = "fallback"."""


class Engine(Table, frozen=True, kw_only=True):
    """`[engine]`: how the run is spread over processes."""

    workers: Annotated[int, Meta(ge=1, le=4096)] | None = None
    """Worker processes; the number of cores if not given."""
    start: Literal["fork", "spawn", "inline"] = "fork"
    """How workers start; "inline" runs everything in one process, for debugging a scenario."""
    window: Annotated[int, Meta(ge=1)] = 250_000
    """Most requests that one worker lets wait at the models before more of its agents begin their turn."""
    mailbox: Annotated[int, Meta(ge=1)] = 5_000_000
    """Most messages that one mailbox holds in a round, and that an agent may tell in one turn. A run that
    needs more stops; it can be resumed with more."""
    deadline_s: Annotated[float, Meta(gt=0)] = 300.0
    """Longest time that an agent may compute without a break, or wait for anything but its model and other
    agents; and that all may wait for each other."""
    failure_budget: Annotated[float, Meta(ge=0, le=1)] = 0.05
    """Share of the agents that may fail before the run stops."""


class Budget(Table, frozen=True, kw_only=True):
    """`[budget]`: where a run stops, with exit code 3 and everything saved. A resumed run may have another.

    Tokens and money count from the beginning of the run. No request is made whose prompt and longest possible
    reply do not fit into what is left.
    """

    tokens: Annotated[int, Meta(ge=1)] | None = None
    """Most tokens of prompts and replies together."""
    money: Annotated[float, Meta(gt=0)] | None = None
    """Most money, in the currency of the models' prices."""
    wall_s: Annotated[float, Meta(gt=0)] | None = None
    """Longest time in seconds, from the start or, of a resumed run, from there."""
    failures: Annotated[int, Meta(ge=0)] | None = None
    """Most failed replies and agents; repaired replies do not count."""


class Journal(Table, frozen=True, kw_only=True):
    """`[journal]`: what the run file keeps."""

    transcripts: Annotated[str, Meta(pattern=_SAMPLE, description='"all", "none" or "1 in N"')] = "all"
    """Prompts and replies that are kept word for word: "all", "1 in N" (agents) or "none". Values are always
    kept."""
    directory: str | None = None
    """Folder that gets one directory a run; the user's data folder if not given."""
    durability: Literal["os", "disk"] = "os"
    """When a row counts as written: with the operating system (survives the death of any process), or on the
    disk (survives a loss of power too, at the cost of a flush every commit)."""
    snapshot_every: Annotated[int, Meta(ge=0)] = 10
    """Rounds between snapshots of the agents, if they all declare their state: a long run is resumed from the
    last one. 0 for none."""
    max_text_chars: Annotated[int, Meta(ge=100)] = 65_536
    """Longer texts are cut in the journal, and marked."""


class Preset(Table, frozen=True, kw_only=True):
    """A whole preset. `scenario` is the settings struct of the scenario that `[scenario] name` names."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    """Short name; becomes part of the run directory's name."""
    description: str = ""
    """What the preset is for, in a sentence."""
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 1
    """Seed of everything random in the run."""
    scenario: ScenarioSettings
    population: Population
    model: Model
    models: dict[str, Model] = {}
    """Further models by name, each a table like `[model]`, for slices of the population."""
    slices: tuple[Slice, ...] = ()
    """Parts of the population that think, or are asked, differently."""
    answers: Answers = Answers()
    engine: Engine = Engine()
    memory: AnyMemory | None = None
    """What agents remember of their conversations; if not given, as the scenario has it, else everything."""
    budget: Budget = Budget()
    journal: Journal = Journal()

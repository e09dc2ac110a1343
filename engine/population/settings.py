"""The `[population]` table of a preset: who takes part, and what is known of them."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from engine.keys import MAX_AGENTS
from engine.population.network.settings import Network
from engine.population.persona.settings import Persona

Name = Annotated[str, Meta(min_length=1, max_length=40)]
Names = Annotated[tuple[Name, ...], Meta(min_length=1, max_length=20)]
Cell = str | int | float | bool
"""A category, or a number; in rows of tables."""
Rows = tuple[tuple[Cell, ...], ...]
Share = Annotated[float, Meta(ge=0)]
Draw = Literal["exact", "random"]
Type = Literal["categorical", "integer", "real", "date", "boolean"]


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table below `[population]`."""


class Attribute(Table, frozen=True, kw_only=True, tag_field="from"):
    """Something that is known of everybody."""

    per: Literal["person", "household"] = "person"
    """Whether each person has a value, or each household one that its members share."""


class Shares(Attribute, frozen=True, kw_only=True, tag="shares"):
    """Categories with the share of each."""

    shares: Annotated[dict[str, Share], Meta(min_length=1)]
    """The share of each category, for example { yes = 0.4, no = 0.6 }; together 1."""
    type: Type = "categorical"
    """What the names of the categories are: text, or numbers, dates, true and false."""
    draw: Draw = "exact"
    """"exact" gives each category its quota (1,000 people at 20, 30 and 50 % are exactly 200, 300 and 500),
    in random order; "random" draws each person apart from all others."""


class Distribution(Attribute, frozen=True, kw_only=True, tag="distribution"):
    """Numbers from a distribution of scipy.stats."""

    distribution: str
    """Name in scipy.stats, such as "norm", "lognorm", "poisson" or "uniform"."""
    parameters: dict[str, float | date] = {}
    """Its parameters, for example { loc = 100, scale = 15 }. "uniform" also takes { low, high }, both
    included."""
    type: Literal["integer", "real", "date"] = "real"
    """What the numbers are; those of a date are days since 1970-01-01."""
    at_least: float | date | None = None
    """The distribution is cut off below this."""
    at_most: float | date | None = None
    """The distribution is cut off above this."""
    decimals: Annotated[int, Meta(ge=0, le=12)] | None = None
    """Digits after the point that real numbers are rounded to."""
    draw: Draw = "exact"
    """"exact" spreads people evenly over the distribution, in random order; "random" draws each apart from
    all others."""


class Conditional(Attribute, frozen=True, kw_only=True, tag="table"):
    """Shares, or parameters of a distribution, that depend on other attributes."""

    given: Names
    """The attributes that it depends on."""
    columns: Annotated[tuple[str, ...], Meta(min_length=1)]
    """The categories; with `distribution` the parameters that the rows give."""
    rows: Annotated[Rows, Meta(min_length=1)]
    """Each row: a category of each attribute of `given`, then the share of each category, together 1. "*"
    stands for all categories, "18-24" and "65+" for ranges of a whole number. The first row that fits
    counts."""
    distribution: str | None = None
    """Name in scipy.stats; the rows then hold its parameters, not shares."""
    type: Type | None = None
    """What the values are; "categorical", or with `distribution` "real" if not given."""
    at_least: float | date | None = None
    """The distribution is cut off below this."""
    at_most: float | date | None = None
    """The distribution is cut off above this."""
    decimals: Annotated[int, Meta(ge=0, le=12)] | None = None
    """Digits after the point that real numbers are rounded to."""
    draw: Draw = "exact"
    """"exact" gives each category its quota among the people of each row; "random" draws each person apart
    from all others."""


class Expression(Attribute, frozen=True, kw_only=True, tag="expression"):
    """Computed from other attributes."""

    expression: Annotated[str, Meta(min_length=1, max_length=2000)]
    """For example "income / household_size"; docs/populations.md describes the language."""
    type: Type | None = None
    """What the values are; as the expression has it if not given."""


class FromMicrodata(Attribute, frozen=True, kw_only=True, tag="microdata"):
    """Taken from the record that a person is made of."""

    column: str | None = None
    """The column of the file; named like the attribute if not given."""
    type: Type = "categorical"
    """What the column holds."""
    values: dict[str, str] = {}
    """What the file's values stand for, for example { "1" = "male", "2" = "female" }; all of them, if any."""


class FromTables(Attribute, frozen=True, kw_only=True, tag="tables"):
    """Taken from `[[population.tables]]`; needed only where the categories are not text."""

    type: Type = "categorical"
    """What the categories are."""


class Text(Attribute, frozen=True, kw_only=True, tag="text"):
    """Text made of other attributes when it is asked for."""

    template: Annotated[str, Meta(min_length=1, max_length=20_000)]
    """A Jinja template, for example "{{ house_number }} {{ street }}"."""


AnyAttribute = Shares | Distribution | Conditional | Expression | FromMicrodata | FromTables | Text


class JointTable(Table, frozen=True, kw_only=True):
    """`[[population.tables]]`: how many people have which combination of one or several attributes.

    Tables that share attributes are fitted together by iterative proportional fitting (raking).
    """

    attributes: Names
    """The attributes; those not declared elsewhere become categorical ones."""
    rows: Rows = ()
    """Each row: a category of each attribute, then how many people. Combinations that are not listed have
    none."""
    file: str | None = None
    """A CSV or Parquet file in place of `rows`, with a column for each attribute and one for how many."""
    count: str = "count"
    """The column of the file that says how many."""
    unit: Literal["count", "share", "percent"] = "count"
    """What the last number of a row is. Shares have to add up to 1, percentages to 100, counts of tables that
    share attributes to the same total."""
    normalise: bool = False
    """Scale what does not add up, as rounded figures do not, instead of refusing it."""
    use: Literal["fit", "seed"] = "fit"
    """"seed": not a target, but where fitting starts from; it gives what the other tables leave open."""
    source: str = ""
    """Where the figures are from."""


class Fit(Table, frozen=True, kw_only=True):
    """`[population.fit]`: how tables are fitted and people drawn from them."""

    tolerance: Annotated[float, Meta(gt=0, lt=1)] = 1e-6
    """Largest difference between a fitted and a wanted figure, as a share of the population. Tables that
    contradict each other by more are refused."""
    max_iterations: Annotated[int, Meta(ge=1, le=100_000)] = 1000
    """Rounds of fitting before giving up."""
    draw: Draw = "exact"
    """"exact" rounds the fitted table to whole people, and holds the tables' figures as closely as that
    allows; "random" draws each person apart from all others."""


class Microdata(Table, frozen=True, kw_only=True):
    """`[population.microdata]`: a survey's or census's records, of which people are made."""

    file: str
    """A CSV file with a header, or a Parquet file; relative to the preset's folder."""
    weight: str | None = None
    """Column with the number of people that a record stands for; all alike if not given."""
    draw: Literal["exact", "random", "all"] = "exact"
    """"exact" gives each record its quota by weight, "random" draws a record for each person apart from all
    others, "all" takes every record once, in the file's order."""
    missing: Literal["refuse", "drop"] = "refuse"
    """What happens to records in which a value that is used is empty or NaN."""
    delimiter: Annotated[str, Meta(min_length=1, max_length=1)] = ","
    """What separates the columns of a CSV file."""


class Households(Table, frozen=True, kw_only=True):
    """`[population.households]`: people live together, numbered one after the other.

    Everybody gets the attributes `household` (its number), `household_size` and `member` (1 for the first).
    """

    sizes: Annotated[dict[str, Share], Meta(min_length=1)]
    """The share of households of each size, for example { "1" = 0.4, "2" = 0.35, "3" = 0.25 }."""
    draw: Draw = "exact"
    """"exact" gives each size its quota, in random order; "random" draws each household apart from all
    others. The last household may be smaller, so that the number of people is right."""


class Constraint(Table, frozen=True, kw_only=True):
    """`[[population.constraints]]`: what must hold for everybody."""

    require: Annotated[str, Meta(min_length=1, max_length=2000)]
    """An expression that has to be true, for example "age >= 25 or occupation != 'doctor'"."""
    reason: str = ""
    """What it is for; shown when it cannot hold."""


class Births(Table, frozen=True, kw_only=True):
    """`[population.births]`: agents that come while a scenario runs whose agents may come and go."""

    per_group: Annotated[int, Meta(ge=0, le=MAX_AGENTS)] = 0
    """Newcomers that a group may have in the whole run."""
    per_parent: Annotated[int, Meta(ge=0)] | None = None
    """Newcomers that one agent may ask for; as many as the group may have if not given."""


class Population(Table, frozen=True, kw_only=True):
    """`[population]`: who takes part."""

    size: Annotated[int, Meta(ge=1, le=MAX_AGENTS)]
    """Number of agents."""
    attributes: dict[str, AnyAttribute] = {}
    """What is known of everybody."""
    tables: tuple[JointTable, ...] = ()
    """How many people have which combination of attributes."""
    fit: Fit = Fit()
    """How tables are fitted."""
    microdata: Microdata | None = None
    """Records of which people are made."""
    households: Households | None = None
    """Who lives together."""
    constraints: tuple[Constraint, ...] = ()
    """What must hold for everybody."""
    networks: dict[str, Network] = {}
    """Who knows whom."""
    arrange: Literal["communities", "drawn"] = "communities"
    """Which numbers people get if there are networks: neighbours near each other, so that most of them are on
    the same worker, or as they were drawn."""
    persona: Persona | None = None
    """Who they are, in words."""
    births: Births = Births()
    """How many may come while the run goes on."""

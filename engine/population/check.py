"""What is wrong with the settings of a population, as far as they tell by themselves, before any file is
read."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from engine.population import households
from engine.population.check_tables import table_faults
from engine.population.column import parsed
from engine.population.distribution import BadDistribution
from engine.population.expression import read
from engine.population.faults import BadExpression, Fault, PopulationError, quoted, unknown
from engine.population.lookup import Given
from engine.population.network.check import network_faults
from engine.population.order import in_order
from engine.population.persona.check import persona_faults, template_faults
from engine.population.plan import single
from engine.population.settings import (
    AnyAttribute,
    Cell,
    Conditional,
    Distribution,
    Expression,
    FromMicrodata,
    FromTables,
    Population,
    Shares,
    Text,
)
from engine.population.sources import Source, law
from engine.population.tables import SUM_TOLERANCE, off

Path = tuple[str, ...]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_RESERVED = {*keyword.kwlist, *map(str.lower, keyword.kwlist), *households.NAMES, "self"}
_SIZE = re.compile(r"[1-9][0-9]{0,3}")


def faults(settings: Population) -> Iterator[Fault]:
    """Yield all that is wrong with the settings of a population."""
    known = _known(settings)
    yield from _name_faults(settings)
    for name, attribute in settings.attributes.items():
        yield from _attribute_faults(settings, attribute, ("attributes", name))
    sources = _sources(settings)
    yield from _level_faults(settings, sources)
    yield from _circle(sources)
    yield from table_faults(settings)
    yield from _household_faults(settings)
    for number, constraint in enumerate(settings.constraints, start=1):
        yield from _expression_faults(constraint.require, known, ("constraints", str(number), "require"))
    yield from network_faults(settings.networks, known, settings.size)
    if settings.persona:
        yield from persona_faults(settings.persona, [*known, *_texts(settings)])


def condition_faults(settings: Population, condition: str) -> Iterator[Fault]:
    """Yield what is wrong with a condition that is about the people but no part of the population's table."""
    yield from _expression_faults(condition, _known(settings), ())


def _name_faults(settings: Population) -> Iterator[Fault]:
    places = {
        name: ("tables", str(i)) for i, t in enumerate(settings.tables, start=1) for name in t.attributes
    }
    for name, path in (places | {name: ("attributes", name) for name in settings.attributes}).items():
        if not _NAME.fullmatch(name) or name in _RESERVED:
            what = f"{quoted(name)} cannot be the name of an attribute"
            yield Fault(path, what, "letters, digits and _; no word with another meaning")


def _known(settings: Population) -> list[str]:
    """Return the attributes of which there are columns: all but text templates."""
    declared = [name for name, a in settings.attributes.items() if not isinstance(a, Text)]
    in_tables = [name for table in settings.tables for name in table.attributes]
    of_households = households.NAMES if settings.households else ()
    return list(dict.fromkeys([*declared, *in_tables, *of_households]))


def _texts(settings: Population) -> list[str]:
    return [name for name, a in settings.attributes.items() if isinstance(a, Text)]


def _attribute_faults(settings: Population, attribute: AnyAttribute, path: Path) -> Iterator[Fault]:
    known = _known(settings)
    match attribute:
        case Shares():
            yield from _sum_faults(attribute.shares.values(), (*path, "shares"))
            yield from _label_faults(attribute.shares, attribute.type, (*path, "shares"))
        case Distribution():
            yield from _law_faults(attribute, attribute.parameters, (*path, "parameters"))
        case Conditional():
            yield from _conditional_faults(settings, attribute, path)
        case Expression():
            yield from _expression_faults(attribute.expression, known, (*path, "expression"))
        case FromMicrodata():
            if settings.microdata is None:
                yield Fault((*path, "from"), "there are no microdata", "[population.microdata] with a file")
        case FromTables():
            if not any(path[1] in table.attributes for table in settings.tables):
                yield Fault((*path, "from"), "no table of [[population.tables]] has this attribute")
        case Text():
            texts = _texts(settings)
            before = texts[: texts.index(path[1])]
            yield from template_faults(attribute.template, [*known, *before], (*path, "template"))


def _sum_faults(shares: Iterable[float], path: Path, row: str = "") -> Iterator[Fault]:
    total = sum(shares)
    if abs(total - 1) > SUM_TOLERANCE:
        what, allowed = off(total, 1.0, "shares that add up to 1")
        yield Fault(path, row + what, allowed)


def _label_faults(labels: Iterable[str], kind: str | None, path: Path) -> Iterator[Fault]:
    words = list(labels)
    if "" in words:
        yield Fault(path, "a category has no name")
    if len(set(words)) < len(words):
        yield Fault(path, "a category is there twice")
    if kind not in (None, "categorical"):
        for word in words:
            try:
                parsed(word, kind)  # type: ignore[arg-type]
            except ValueError as error:
                yield Fault(path, str(error))
                return


def _law_faults(
    attribute: Distribution | Conditional, parameters: Mapping[str, object], path: Path
) -> Iterator[Fault]:
    try:
        law(attribute).quantiles(parameters)  # type: ignore[arg-type]
    except BadDistribution as error:
        yield Fault(path, str(error))


def _conditional_faults(settings: Population, attribute: Conditional, path: Path) -> Iterator[Fault]:
    known = _known(settings)
    for name in attribute.given:
        if name not in known:
            yield unknown((*path, "given"), name, known)
    if attribute.distribution and attribute.type in ("categorical", "boolean"):
        yield Fault((*path, "type"), "a distribution gives numbers or dates", '"integer", "real" or "date"')
    if not attribute.distribution:
        yield from _label_faults(attribute.columns, attribute.type, (*path, "columns"))
    givens = [_given(settings, name) for name in attribute.given]
    for number, row in enumerate(attribute.rows, start=1):
        found = list(_row_faults(attribute, row, number, givens, (*path, "rows")))
        yield from found
        if found and attribute.distribution:
            return  # a wrong name would be told of every row


def _row_faults(
    attribute: Conditional, row: Sequence[Cell], number: int, givens: Sequence[Given | None], path: Path
) -> Iterator[Fault]:
    n_keys, n_figures = len(attribute.given), len(attribute.columns)
    figures = [x for x in row[n_keys:] if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(row) != n_keys + n_figures or len(figures) != n_figures:
        allowed = f"{n_keys} categories, then {n_figures} numbers"
        yield Fault(path, f"row {number} is not a row of this table", allowed)
        return
    for given, cell in zip(givens, row, strict=False):
        yield from _key_faults(given, cell, number, path)
    if attribute.distribution:
        yield from _law_faults(attribute, dict(zip(attribute.columns, figures, strict=True)), path)
    elif min(figures) < 0:
        yield Fault(path, f"row {number} has a share below 0")
    else:
        yield from _sum_faults(figures, path, f"row {number}: ")


def _given(settings: Population, name: str) -> Given | None:
    """Return the categories of an attribute; None if only data tell them."""
    match settings.attributes.get(name):
        case Shares(type="categorical", shares=shares):
            return Given(name, tuple(shares))
        case Conditional(type=None | "categorical", distribution=None, columns=columns):
            return Given(name, columns)
    return None


def _key_faults(given: Given | None, cell: object, number: int, path: Path) -> Iterator[Fault]:
    try:
        if given:
            given.fitting(cell)
    except ValueError as error:
        yield Fault(path, f"row {number}: {error}")


def _expression_faults(text: str, known: list[str], path: Path) -> Iterator[Fault]:
    try:
        expression = read(text)
    except BadExpression as error:
        yield Fault(path, str(error))
        return
    for name in expression.names:
        if name not in known:
            yield unknown(path, name, known)


def _level_faults(settings: Population, sources: Mapping[str, Source]) -> Iterator[Fault]:
    """Yield what is wrong with attributes that members of a household share."""
    for name, attribute in settings.attributes.items():
        path = ("attributes", name, "per")
        if attribute.per == "person":
            continue
        if settings.households is None:
            yield Fault(path, "there are no households", "[population.households] with sizes")
        if isinstance(attribute, FromMicrodata | FromTables | Text):
            yield Fault(path, "microdata, tables and text are about persons", '"person"')
        for needed in sources[name].needs if name in sources else ():
            other = settings.attributes.get(needed)
            if needed == "member" or (other and other.per == "person"):
                yield Fault(
                    path, f"what households have cannot depend on {quoted(needed)}, which persons have"
                )


def _household_faults(settings: Population) -> Iterator[Fault]:
    if settings.households:
        path = ("households", "sizes")
        for size in settings.households.sizes:
            if not _SIZE.fullmatch(size):
                yield Fault(
                    path, f"{quoted(size)} is not a size of a household", "whole numbers from 1 to 9999"
                )
        yield from _sum_faults(settings.households.sizes.values(), path)


def _sources(settings: Population) -> dict[str, Source]:
    """Return the sources of those attributes that can be read."""
    found = {}
    for name, attribute in settings.attributes.items():
        with suppress(BadExpression):
            if source := single(name, attribute, 0):
                found[name] = source
    return found


def _circle(sources: Mapping[str, Source]) -> Iterator[Fault]:
    try:
        in_order(list(sources.values()))
    except PopulationError as error:
        yield Fault(("attributes",), error.what)

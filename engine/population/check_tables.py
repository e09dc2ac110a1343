"""What is wrong with joint tables and microdata, as far as the settings tell by themselves."""

from __future__ import annotations

from collections.abc import Iterator

from engine.population.expression import read
from engine.population.faults import BadExpression, Fault, listed, quoted
from engine.population.settings import Expression, FromMicrodata, FromTables, JointTable, Population
from engine.population.tables import row_faults

Path = tuple[str, ...]


def table_faults(settings: Population) -> Iterator[Fault]:
    """Yield what is wrong with the tables and microdata of a population."""
    for number, table in enumerate(settings.tables, start=1):
        path = ("tables", str(number))
        yield from _attribute_faults(settings, table, (*path, "attributes"))
        if bool(table.rows) == bool(table.file):
            yield Fault(path, "a table has either rows or a file", 'rows = [...] or file = "..."')
        elif table.rows:
            yield from row_faults(table, table.rows, path)
    yield from _microdata_faults(settings)


def _attribute_faults(settings: Population, table: JointTable, path: Path) -> Iterator[Fault]:
    if len(set(table.attributes)) < len(table.attributes):
        yield Fault(path, "an attribute is there twice")
    for name in table.attributes:
        attribute = settings.attributes.get(name)
        if isinstance(attribute, Expression):
            yield from _expression_faults(settings, attribute, name, path)
        elif not isinstance(attribute, None | FromTables | FromMicrodata):
            yield Fault(
                path,
                f"{quoted(name)} is drawn in another way already",
                "attributes that have no other source",
            )


def _expression_faults(settings: Population, attribute: Expression, name: str, path: Path) -> Iterator[Fault]:
    try:
        needs = read(attribute.expression).names
    except BadExpression:
        return  # told where it stands
    other = [
        need for need in needs if not isinstance(settings.attributes.get(need), FromMicrodata | Expression)
    ]
    if other or settings.microdata is None:
        what = f"{quoted(name)} is computed"
        of = f", from {listed(other)} too" if other else ""
        yield Fault(path, what + of, "computed attributes only where they are computed from microdata alone")


def _microdata_faults(settings: Population) -> Iterator[Fault]:
    if settings.microdata is None:
        return
    taken = [name for name, a in settings.attributes.items() if isinstance(a, FromMicrodata)]
    if not taken:
        yield Fault(("microdata",), "no attribute is taken from it", 'an attribute with from = "microdata"')
    about = [n for table in settings.tables for n in table.attributes if n in taken]
    if settings.microdata.draw == "all" and about:
        what = f"every record is taken once, so that tables about {listed(about)} have no say"
        yield Fault(("microdata", "draw"), what, '"exact" or "random"')

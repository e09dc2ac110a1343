"""What is wrong with the data of a population: with its files, and with what is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from engine.population import delimited, records
from engine.population.build import build
from engine.population.faults import Fault, PopulationError
from engine.population.network.settings import EdgeList
from engine.population.settings import FromMicrodata, Population
from engine.population.tables import row_faults

MOST = 10
"""Faults of one file that are told."""


def data_faults(settings: Population, seed: int) -> Iterator[Fault]:
    """Yield what is wrong with the data of a population whose settings are right by themselves.

    Every file is read. If each of them is right, the population is built, for only that shows whether tables
    agree, and whether all constraints can be met; then the first thing that is wrong is all there is to tell.
    """
    found = [fault for file in _files(settings) for fault in islice(file, MOST)]
    yield from found or _told(lambda: build(settings, seed))


def _files(settings: Population) -> Iterator[Iterator[Fault]]:
    for number, table in enumerate(settings.tables, start=1):
        if table.file:
            yield _table_faults(settings, number)
    if microdata := settings.microdata:
        taken = {name: a for name, a in settings.attributes.items() if isinstance(a, FromMicrodata)}
        yield _told(lambda: records.read(microdata, taken))
    for name, network in settings.networks.items():
        if isinstance(network, EdgeList):
            yield _edge_list_faults(network, name)


def _table_faults(settings: Population, number: int) -> Iterator[Fault]:
    table = settings.tables[number - 1]
    try:
        rows = records.table_rows(table, number)
    except PopulationError as error:
        yield _fault(error)
    else:
        for fault in row_faults(table, rows, ("tables", str(number))):
            yield fault._replace(path=("tables", str(number), "file"))


def _edge_list_faults(network: EdgeList, name: str) -> Iterator[Fault]:
    path = ("networks", name)
    yield from _told(lambda: delimited.read(Path(network.file), network.ends, network.delimiter, path))


def _told(action: Callable[[], object]) -> Iterator[Fault]:
    try:
        action()
    except PopulationError as error:
        yield _fault(error)


def _fault(error: PopulationError) -> Fault:
    return Fault(error.path, error.what, error.hint)

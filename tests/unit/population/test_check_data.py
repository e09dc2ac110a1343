"""What is wrong with the data files of a population is told without a run, each with its key."""

from pathlib import Path

import pytest

from engine.population.check_data import MOST, data_faults
from engine.population.faults import Fault
from tests.fakes.populations import settings

TABLE = '[[tables]]\nattributes = ["sex"]\nfile = "{folder}/t.csv"\n{more}\n'
MICRODATA = (
    '[microdata]\nfile = "{folder}/m.csv"\nweight = "w"\n'
    '[attributes.age]\nfrom = "microdata"\ntype = "integer"\n'
)
EDGES = '[networks.friends]\nkind = "edge_list"\nfile = "{folder}/e.csv"\n'
GOOD = {"t": "sex,count\nm,50\nf,50\n", "m": "age,w\n12,1\n40,2\n", "e": "from,to\n0,1\n1,2\n"}


def told(folder: Path, text: str, more: str = "", **files: str) -> list[Fault]:
    for name, content in (GOOD | files).items():
        (folder / f"{name}.csv").write_text(content)
    return list(data_faults(settings(text.format(folder=folder, more=more), 100), 1))


def test_nothing_is_wrong_with_good_files(tmp_path: Path) -> None:
    assert told(tmp_path, TABLE + MICRODATA + EDGES) == []


@pytest.mark.parametrize(
    ("text", "more", "files", "path", "what"),
    [
        (TABLE, "", {"t": "sex,n\nm,50\n"}, ("tables", "1"), 'has no column "count"'),
        (TABLE, "", {"t": "sex,count\nm,x\n"}, ("tables", "1"), '"x" is not a finite number'),
        (
            TABLE,
            "",
            {"t": "sex,count\nm,-1\nf,2\n"},
            ("tables", "1", "file"),
            "row 1 is not a row",
        ),
        (TABLE, "", {"t": "sex,count\n,1\nf,2\n"}, ("tables", "1", "file"), "row 1 has an empty category"),
        (TABLE, "", {"t": "sex,count\nm,NaN\n"}, ("tables", "1"), '"NaN" is not a finite number'),
        (TABLE, 'unit = "share"', {"t": "sex,count\nm,0.4\nf,0.5\n"}, ("tables", "1", "file"), "0.1 below 1"),
        (MICRODATA, "", {"m": "age,w\n12,-1\n"}, ("microdata",), "is negative in record 1"),
        (MICRODATA, "", {"m": "age\n12\n"}, ("microdata",), 'has no column "w"'),
        (MICRODATA, "", {"m": "age,w\nold,1\n"}, ("attributes", "age"), "'old' is not a whole number"),
        (MICRODATA, "", {"m": "age,w\n,1\n"}, ("microdata",), '"age" is empty or NaN in 1 records'),
        (EDGES, "", {"e": "a,to\n1,2\n"}, ("networks", "friends"), 'has no column "from"'),
        (
            EDGES,
            "",
            {"e": "from,to\n1,200\n"},
            ("networks", "friends", "file"),
            '"200" in column "to"',
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_key(
    tmp_path: Path, text: str, more: str, files: dict[str, str], path: tuple[str, ...], what: str
) -> None:
    (fault,) = told(tmp_path, text, more, **files)
    assert fault.path == path
    assert what in fault.what


def test_every_file_is_looked_at(tmp_path: Path) -> None:
    found = told(tmp_path, TABLE + MICRODATA + EDGES, t="sex\n", m="age\n", e="a,b\n0,1\n")
    assert [fault.path[0] for fault in found] == ["tables", "microdata", "networks"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (fault,) = data_faults(settings(EDGES.format(folder=tmp_path / "no"), 100), 1)
    assert "cannot be read: No such file" in fault.what


def test_a_file_of_nothing_but_mistakes_is_told_briefly(tmp_path: Path) -> None:
    assert len(told(tmp_path, TABLE, t="sex,count\n" + "m,1\n" * 1000)) == MOST


def test_what_only_building_shows(tmp_path: Path) -> None:
    text = "[[constraints]]\nrequire = \"sex == 'x'\"\n"
    (fault,) = told(tmp_path, TABLE + text)
    assert fault.path[0] == "constraints"
    assert '"x" is none of the categories' in fault.what
    other = '[[tables]]\nattributes = ["sex"]\nrows = [["m", 90], ["f", 10]]\n'
    (fault,) = told(tmp_path, TABLE + other)
    assert "contradict each other" in fault.what

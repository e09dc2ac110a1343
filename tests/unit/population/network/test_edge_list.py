from pathlib import Path

import pytest

from engine.population.faults import PopulationError
from engine.population.people import People
from tests.fakes.populations import people

MICRODATA = '[microdata]\nfile = "{folder}/m.csv"\ndraw = "all"\n[attributes.name]\nfrom = "microdata"\n'
NETWORK = '[networks.friends]\nkind = "edge_list"\nfile = "{folder}/e.csv"\n'


def built(folder: Path, ties: str, more: str = "", names: str = "ann\nbob\ncid\ndee\n") -> People:
    (folder / "m.csv").write_text(f"name\n{names}")
    (folder / "e.csv").write_text(f"from,to,weight\n{ties}")
    return people((MICRODATA + NETWORK).format(folder=folder) + more, 4)


def test_people_are_named_by_number(tmp_path: Path) -> None:
    found = built(tmp_path, "0,3,1\n3,1,1\n3,0,1\n2,2,1\n")
    assert [found.neighbours(i).tolist() for i in range(4)] == [[3], [3], [], [0, 1]]


def test_people_are_named_by_an_attribute(tmp_path: Path) -> None:
    found = built(tmp_path, "ann,dee,\nbob,dee,\n", 'key = "name"')
    names = {found.person(i)["name"]: i for i in range(4)}
    assert {found.person(i)["name"] for i in found.neighbours(names["dee"])} == {"ann", "bob"}


@pytest.mark.parametrize(
    ("ties", "more", "words"),
    [
        ("0,1,\n0,9,\n", "", 'record 2: "9" in column "to" is nobody\n  people are named by 0 to 3'),
        ("ann,eve,\n", 'key = "name"', '"eve" in column "to" is nobody\n  .*values of "name"'),
        (",1,\n", "", '"" in column "from" is nobody'),
        ("0,1,\n", 'ends = ["from", "two"]', 'no column "two"'),
        ("0,1,\n", 'key = "nam"', 'no attribute "nam"'),
        ("", "", "no records"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, ties: str, more: str, words: str) -> None:
    with pytest.raises(PopulationError, match=words):
        built(tmp_path, ties, more)


def test_names_have_to_tell_people_apart(tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match='"name" does not tell people apart'):
        built(tmp_path, "ann,bob,\n", 'key = "name"', "ann\nbob\nann\ndee\n")

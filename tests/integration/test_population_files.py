"""Microdata from a Parquet file, as pyarrow and others write them."""

from collections import Counter
from pathlib import Path

import pytest

from engine.population.faults import PopulationError
from tests.fakes.populations import people

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXT = """
[microdata]
file = "{file}"
weight = "w"
{more}
[attributes.age]
from = "microdata"
type = "integer"
[attributes.sex]
from = "microdata"
[attributes.home]
from = "microdata"
type = "boolean"
"""


def written(path: Path, **columns: list[object]) -> Path:
    parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.fixture
def columns() -> dict[str, list[object]]:
    return {"age": [30, 40, 50], "sex": ["m", "f", "f"], "home": [True, False, True], "w": [1.0, 2.0, 1.0]}


def test_records_are_read(tmp_path: Path, columns: dict[str, list[object]]) -> None:
    found = people(TEXT.format(file=written(tmp_path / "m.parquet", **columns), more=""), 400)
    assert Counter(map(str, map(found.person, range(400)))) == {
        "{'age': 30, 'sex': 'm', 'home': True}": 100,
        "{'age': 40, 'sex': 'f', 'home': False}": 200,
        "{'age': 50, 'sex': 'f', 'home': True}": 100,
    }


def test_dictionaries_and_values_missing(tmp_path: Path, columns: dict[str, list[object]]) -> None:
    columns["sex"] = pyarrow.array(["m", None, "f"]).dictionary_encode()  # type: ignore[assignment]
    file = written(tmp_path / "m.parquet", **columns)
    with pytest.raises(PopulationError, match='"sex" is empty or NaN in 1 records: first record 2'):
        people(TEXT.format(file=file, more=""), 10)
    found = people(TEXT.format(file=file, more='missing = "drop"'), 10)
    assert Counter(found.columns["age"].values()) == {30: 5, 50: 5}


def test_numbers_missing(tmp_path: Path, columns: dict[str, list[object]]) -> None:
    columns["age"] = [30, None, float("nan")]
    file = written(tmp_path / "m.parquet", **columns)
    with pytest.raises(PopulationError, match='"age" is empty or NaN in 2 records'):
        people(TEXT.format(file=file, more=""), 10)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"age": None}, 'no column "age"'), ({"w": [1.0, -2.0, 1.0]}, "negative in record 2")],
)
def test_bad_columns(
    tmp_path: Path, columns: dict[str, list[object]], change: dict[str, list[object] | None], words: str
) -> None:
    changed = {name: values for name, values in (columns | change).items() if values is not None}
    with pytest.raises(PopulationError, match=words):
        people(TEXT.format(file=written(tmp_path / "m.parquet", **changed), more=""), 10)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "m.parquet"
    file.write_text("age,sex\n")
    with pytest.raises(PopulationError, match="is not a Parquet file"):
        people(TEXT.format(file=file, more=""), 10)

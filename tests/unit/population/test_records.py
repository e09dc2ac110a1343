"""Microdata from CSV files: what is taken, and what is refused."""

from collections import Counter
from pathlib import Path

import pytest

from engine.population.faults import PopulationError
from engine.population.people import People
from tests.fakes.populations import people

ROWS = """AGEP,SEX,W,JOB
17,1,10,pupil
30,1,20,nurse
40,2,30,cook
70,2,40,retired
"""
ATTRIBUTES = """
[attributes.age]
from = "microdata"
column = "AGEP"
type = "integer"
[attributes.sex]
from = "microdata"
column = "SEX"
values = { "1" = "male", "2" = "female" }
[attributes.job]
from = "microdata"
column = "JOB"
"""
COMBINATIONS = {
    (17, "male", "pupil"),
    (30, "male", "nurse"),
    (40, "female", "cook"),
    (70, "female", "retired"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.csv"
    path.write_text(ROWS)
    return path


def built(
    file: Path, extra: str = "", more: str = "", attributes: str = ATTRIBUTES, size: int = 100
) -> People:
    return people(f'[microdata]\nfile = "{file}"\n{extra}\n{attributes}{more}', size)


def combinations(found: People) -> Counter[tuple[object, ...]]:
    return Counter(zip(*(found.columns[name].values() for name in ("age", "sex", "job")), strict=True))


def test_records_stay_together_and_get_their_quota_by_weight(file: Path) -> None:
    found = combinations(built(file, 'weight = "W"'))
    assert found == {
        (17, "male", "pupil"): 10,
        (30, "male", "nurse"): 20,
        (40, "female", "cook"): 30,
        (70, "female", "retired"): 40,
    }


def test_without_weights_all_records_count_alike(file: Path) -> None:
    assert set(combinations(built(file)).values()) == {25}


def test_random_draws_do_not_change_when_there_are_more_people(file: Path) -> None:
    extra = 'weight = "W"\ndraw = "random"'
    few, many = built(file, extra, size=50), built(file, extra, size=500)
    assert [few.person(i) for i in range(50)] == [many.person(i) for i in range(50)]
    assert combinations(many).keys() == COMBINATIONS


def test_all_takes_each_record_once_in_order(file: Path) -> None:
    found = built(file, 'draw = "all"', size=4)
    assert found.columns["job"].values() == ["pupil", "nurse", "cook", "retired"]
    with pytest.raises(PopulationError, match="4 complete records for 5 people"):
        built(file, 'draw = "all"', size=5)


def test_records_are_raked_to_margins_and_given_more_attributes(file: Path) -> None:
    more = """
[attributes.band]
from = "expression"
expression = "band(age, 18, 65)"
[[tables]]
attributes = ["band"]
rows = [["under 18", 5], ["18-64", 55], ["65+", 40]]
[[tables]]
attributes = ["sex"]
rows = [["male", 45], ["female", 55]]
[[tables]]
attributes = ["sex", "hobby"]
rows = [["male", "chess", 30], ["male", "golf", 15], ["female", "chess", 10], ["female", "golf", 45]]
[attributes.income]
from = "table"
given = ["band"]
columns = ["none", "some"]
rows = [["under 18", 1, 0], ["*", 0.5, 0.5]]
"""
    found = built(file, 'weight = "W"', more, size=1000)
    assert all(comparison.largest_deviation <= 1 for comparison in found.report.comparisons)
    assert combinations(found).keys() == COMBINATIONS
    assert combinations(found)[70, "female", "retired"] == 400
    assert found.names == ["age", "sex", "job", "band", "income", "hobby"]


def test_weights_decide_among_records_that_tables_do_not_tell_apart(tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    file.write_text("AGEP,SEX,W,JOB\n30,1,1,a\n40,1,3,b\n50,2,1,c\n60,2,1,d\n")
    more = '[[tables]]\nattributes = ["sex"]\nrows = [["male", 8], ["female", 2]]\n'
    jobs = Counter(built(file, 'weight = "W"', more).columns["job"].values())
    assert jobs == {"a": 20, "b": 60, "c": 10, "d": 10}


@pytest.mark.parametrize("empty", ["", "NaN", "NA", " "])
def test_records_with_values_missing_are_refused_or_dropped(file: Path, empty: str) -> None:
    file.write_text(ROWS.replace("40,2,30", f"{empty},2,30"))
    with pytest.raises(
        PopulationError, match='"AGEP" is empty or NaN in 1 records: first record 3\n  missing = "drop"'
    ):
        built(file)
    found = built(file, 'missing = "drop"', size=9)
    assert set(combinations(found).values()) == {3}
    assert found.report.notes == ["1 records of the microdata had values missing"]


def test_a_weight_missing_drops_the_record_too(file: Path) -> None:
    file.write_text(ROWS.replace("40,2,30", "40,2,NA"))
    found = built(file, 'weight = "W"\nmissing = "drop"', size=70)
    assert found.columns["job"].values().count("retired") == 40
    assert "cook" not in found.columns["job"].values()


def test_columns_that_are_not_used_may_be_empty(file: Path) -> None:
    file.write_text(ROWS.replace("40,2,30", "40,2,"))
    assert combinations(built(file))[40, "female", "cook"] == 25


@pytest.mark.parametrize(
    ("old", "new", "extra", "words"),
    [
        ("AGEP", "AGE", "", 'no column "AGEP"\n  did you mean "AGE"'),
        ("W,JOB", "JOB,JOB", "", 'several columns "JOB"'),
        ("30,1,20", "thirty,1,20", "", "'thirty' is not a whole number\n  .*column \"AGEP\""),
        ("30,1,20", "30,3,20", "", 'has "3" in column "SEX", which values does not name'),
        ("30,1,20", "30,1,-20", 'weight = "W"', 'weight "W" is negative in record 2'),
        ("30,1,20", "30,1,many", 'weight = "W"', 'weight "W", record 2: "many" is not a finite number'),
        ("30,1,20", "30,1,inf", 'weight = "W"', 'record 2: "inf" is not a finite number'),
        ("30,1,20,nurse", "30,1,20", "", "record 2 of .* has 3 values, the header has 4"),
        (ROWS[ROWS.index("17") :], "", "", "no records"),
        (ROWS, "", "", 'no column "AGEP"'),
        ("nurse", 'nu"rse\n"x"y', "", "not a CSV file"),
        ("nurse", "nu\0rse", "", None),
    ],
)
def test_bad_files_are_told(file: Path, old: str, new: str, extra: str, words: str | None) -> None:
    file.write_text(ROWS.replace(old, new))
    if words is None:
        assert built(file, extra).n == 100
        return
    with pytest.raises(PopulationError, match=words):
        built(file, extra)


def test_files_that_cannot_be_read_are_told(file: Path, tmp_path: Path) -> None:
    with pytest.raises(PopulationError, match="cannot be read: No such file"):
        built(tmp_path / "other.csv")
    with pytest.raises(PopulationError, match="not a regular file"):
        built(tmp_path)
    file.write_bytes(b"AGEP,SEX,W,JOB\n\xff,1,1,a\n")
    with pytest.raises(PopulationError, match="not a CSV file in UTF-8"):
        built(file)


def test_weights_of_nothing_are_refused(file: Path) -> None:
    file.write_text("AGEP,SEX,W,JOB\n30,1,0,a\n")
    with pytest.raises(PopulationError, match='all weights in column "W" are 0'):
        built(file, 'weight = "W"')


def test_a_margin_that_no_record_can_meet_is_told(file: Path) -> None:
    more = '[[tables]]\nattributes = ["sex"]\nrows = [["male", 8], ["female", 2], ["other", 1]]\n'
    with pytest.raises(
        PopulationError, match=r'"other" of table 1 \(sex\) is 0\.0000%, not 9\.0909%\n  no record'
    ):
        built(file, "", more)
    more = '[[tables]]\nattributes = ["sex"]\nrows = [["male", 8]]\n'
    with pytest.raises(PopulationError, match='the microdata have "female" in "sex", which table 1'):
        built(file, "", more)

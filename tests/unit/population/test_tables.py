"""Joint tables and margins: what is met, and what is refused."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.population.faults import PopulationError
from tests.fakes.populations import people

SEX = '[[tables]]\nattributes = ["sex"]\nunit = "share"\nrows = [["m", 0.4], ["f", 0.6]]\n'
JOINT = """
[[tables]]
attributes = ["age", "edu"]
rows = [["young", "low", 100], ["young", "high", 50], ["old", "low", 10], ["old", "high", 40]]
"""
SEED = """
[[tables]]
attributes = ["sex", "edu"]
use = "seed"
rows = [["m", "low", 1], ["m", "high", 4], ["f", "low", 4], ["f", "high", 1]]
"""


def counts(text: str, *names: str, size: int = 1000, seed: int = 1) -> Counter[tuple[object, ...]]:
    found = people(text, size, seed)
    return Counter(zip(*(found.columns[name].values() for name in names), strict=True))


def test_a_joint_table_is_met_exactly() -> None:
    assert counts(JOINT, "age", "edu") == {
        ("young", "low"): 500,
        ("young", "high"): 250,
        ("old", "low"): 50,
        ("old", "high"): 200,
    }


def test_overlapping_tables_are_met_together_and_the_seed_decides_the_rest() -> None:
    found = people(SEX + JOINT + SEED, 1000)
    assert [c.largest_deviation for c in found.report.comparisons] == [0, 0]
    assert [c.kind for c in found.report.comparisons] == ["margin", "joint"]
    (fitting,) = found.report.fittings
    assert 1 < fitting.iterations < 50
    assert fitting.deviation <= 1e-6
    by_sex_and_edu = Counter(zip(found.columns["sex"].values(), found.columns["edu"].values(), strict=True))
    odds = by_sex_and_edu["m", "low"] * by_sex_and_edu["f", "high"]
    odds /= by_sex_and_edu["m", "high"] * by_sex_and_edu["f", "low"]
    assert odds == pytest.approx(1 / 16, rel=0.2)


def test_tables_without_a_common_attribute_are_independent() -> None:
    found = counts(SEX + JOINT, "sex", "age")
    assert sum(n for (sex, _), n in found.items() if sex == "f") == 600
    assert found["m", "old"] == pytest.approx(0.4 * 0.25 * 1000, abs=35)


def test_random_draws_do_not_change_when_there_are_more_people() -> None:
    text = SEX + JOINT + '[fit]\ndraw = "random"\n'
    few, many = people(text, 200), people(text, 1000)
    assert [few.person(i) for i in range(200)] == [many.person(i) for i in range(200)]
    assert all(comparison.p_value > 1e-4 for comparison in many.report.comparisons)


def test_categories_can_be_numbers() -> None:
    text = '[[tables]]\nattributes = ["age"]\nrows = [[18, 1], [19, 3]]\n'
    text += '[attributes.age]\nfrom = "tables"\ntype = "integer"\n'
    assert counts(text, "age", size=8) == {(18,): 2, (19,): 6}


def test_a_table_can_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text('age,people,edu\nyoung,"100",low\nold,300,high\n')
    text = f'[[tables]]\nattributes = ["age", "edu"]\nfile = "{file}"\ncount = "people"\n'
    assert counts(text, "edu", size=40) == {("low",): 10, ("high",): 30}


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any), st.integers(0, 10**6))
def test_a_table_of_whole_people_comes_back(rows: list[int], seed: int) -> None:
    a, b, c, d = rows
    table = f'[["a", "p", {a}], ["a", "q", {b}], ["b", "p", {c}], ["b", "q", {d}]]'
    text = f'[[tables]]\nattributes = ["x", "y"]\nrows = {table}\n'
    found = counts(text, "x", "y", size=sum(rows), seed=seed)
    assert [found[key] for key in (("a", "p"), ("a", "q"), ("b", "p"), ("b", "q"))] == rows


def margin(name: str, rows: str, more: str = "") -> str:
    return f'[[tables]]\nattributes = ["{name}"]\nrows = [{rows}]\n{more}\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SEX.replace("0.4", "0.5"), r"tables\.1\.rows: the shares add up to 1\.1, 0\.1 above 1"),
        (margin("x", '["a", 49.5], ["b", 50]', 'unit = "percent"'), r"add up to 99\.5, 0\.5 below 100"),
        (margin("x", '["a", 1, 2]'), "row 1 is not a row of this table"),
        (margin("x", '["a", "b"]'), "row 1 is not a row of this table"),
        (margin("x", '["a", -1], ["b", 2]'), "row 1 is not a row of this table"),
        (margin("x", '["a", nan]'), "row 1 is not a row of this table"),
        (margin("x", '["a", 0]'), "all figures are 0"),
        (margin("x", '["a", 1], ["a", 2]'), 'row 2 is for "a", which has a row already'),
        (margin("x", '["", 1]'), "row 1 has an empty category"),
        ('[[tables]]\nattributes = ["x"]', "either rows or a file"),
        (margin("x", '["a", 1]', 'file = "f.csv"'), "either rows or a file"),
        ('[[tables]]\nattributes = ["x", "x"]\nrows = [["a", "a", 1]]', "there twice"),
        (
            margin("age", '["young", 1]') + '[attributes.age]\nfrom = "tables"\ntype = "integer"\n',
            r"attributes\.age\.type: 'young' is not a whole number",
        ),
        (margin("member-of", '["a", 1]'), "cannot be the name"),
        (
            JOINT + margin("edu", '["low", 110], ["hihg", 90]'),
            r'"high" of "edu" in table 1 \(age x edu\) is unknown in table 2 \(edu\)\n  did you mean "hihg"',
        ),
        (
            JOINT + margin("edu", '["low", 220], ["high", 180]'),
            r"table 1 \(age x edu\) has 200 people in all, table 2 \(edu\) has 400\n.*normalise",
        ),
        (
            JOINT + margin("edu", '["low", 100], ["high", 100]'),
            r'contradict each other: "(high|low)" is (45|55)\.0000% in the first, 50\.0000% in the second',
        ),
        (
            SEX
            + JOINT
            + '[[tables]]\nattributes = ["sex", "age"]\nuse = "seed"\n'
            + 'rows = [["m", "young", 1], ["m", "old", 0], ["f", "young", 0], ["f", "old", 1]]',
            "cannot all be met: after .* rounds",
        ),
        (
            JOINT
            + SEED
            + '[[tables]]\nattributes = ["sex", "edu"]\nuse = "seed"\n'
            + 'rows = [["m", "low", 0], ["m", "high", 1], ["f", "low", 0], ["f", "high", 1]]',
            "the seed has nobody like that, so that fitting cannot reach it",
        ),
    ],
)
def test_impossible_tables_are_refused(text: str, words: str) -> None:
    with pytest.raises(PopulationError, match=words):
        people(text)


def test_rounded_figures_are_scaled_if_asked() -> None:
    text = margin("x", '["a", 33.3], ["b", 66.6]', 'unit = "percent"\nnormalise = true')
    assert counts(text, "x", size=900) == {("a",): 300, ("b",): 600}


def test_a_tolerance_lets_tables_differ() -> None:
    text = JOINT + margin("edu", '["low", 109], ["high", 91]') + "[fit]\ntolerance = 0.006\n"
    assert all(c.largest_deviation < 7 for c in people(text).report.comparisons)


def test_too_many_combinations_are_refused() -> None:
    rows = ", ".join(f'["{i}", 1]' for i in range(200))
    text = "".join(margin(f"a{k}", rows) for k in range(3))
    text += '[[tables]]\nattributes = ["a0", "a1", "a2"]\nuse = "seed"\n'
    diagonal = ", ".join(f'["{i}", "{i}", "{i}", 1]' for i in range(200))
    text += f"rows = [{diagonal}]\n"
    with pytest.raises(PopulationError, match="8,000,000 combinations"):
        people(text)

"""Whole populations: exact, reproducible, coherent."""

from collections import Counter
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st

from engine.population.column import Categorical
from engine.population.faults import PopulationError
from tests.fakes.populations import people, shares

EDU = shares("edu", low=0.2, middle=0.3, high=0.5)
AGE = (
    "[attributes.age]\n"
    'from = "distribution"\n'
    'distribution = "norm"\n'
    "parameters = { loc = 45, scale = 15 }\n"
    'type = "integer"\n'
    "at_least = 18\n"
)
JOB = (
    "[attributes.job]\n"
    'from = "table"\n'
    'given = ["edu"]\n'
    'columns = ["cook", "clerk"]\n'
    'rows = [["low", 0.9, 0.1], ["*", 0.25, 0.75]]\n'
)
PAY = (
    "[attributes.pay]\n"
    'from = "table"\n'
    'given = ["job"]\n'
    'distribution = "lognorm"\n'
    'columns = ["s", "scale"]\n'
    'rows = [["cook", 0.5, 20000], ["clerk", 0.4, 30000]]\n'
    "decimals = 0\n"
)


def test_quotas_are_exact() -> None:
    found = people(EDU + JOB)
    assert Counter(found.columns["edu"].values()) == {"low": 200, "middle": 300, "high": 500}
    pairs = Counter(zip(found.columns["edu"].values(), found.columns["job"].values(), strict=True))
    assert (pairs["low", "cook"], pairs["low", "clerk"]) == (180, 20)
    assert pairs["middle", "cook"] + pairs["high", "cook"] == 200


@options(max_examples=30)
@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=8),
    st.integers(1, 400),
    st.integers(0, 2**63 - 1),
    st.sampled_from(["exact", "random"]),
)
def test_every_share_is_within_one_person_or_chance(weights: list[int], n: int, seed: int, how: str) -> None:
    total = sum(weights)
    given_shares = {f"c{i}": weight / total for i, weight in enumerate(weights)}
    found = people(shares("x", f'draw = "{how}"', **given_shares), n, seed)
    counts = Counter(found.columns["x"].values())
    assert counts.total() == n
    for word, share in given_shares.items():
        off = abs(counts[word] - share * n)
        assert off < 1 if how == "exact" else off < 6 * (n * share * (1 - share)) ** 0.5 + 1


def test_the_same_seed_gives_the_same_people_and_another_one_others() -> None:
    text = EDU + AGE + JOB + PAY
    one, same, other = people(text), people(text), people(text, seed=2)
    assert [one.person(i) for i in range(1000)] == [same.person(i) for i in range(1000)]
    assert [one.person(i) for i in range(1000)] != [other.person(i) for i in range(1000)]


def test_an_attribute_more_changes_no_other() -> None:
    few, many = people(EDU + JOB), people(shares("first", a=0.5, b=0.5) + EDU + AGE + JOB + PAY)
    for name in few.names:
        assert few.columns[name].values() == many.columns[name].values()


def test_random_draws_do_not_change_when_there_are_more_people() -> None:
    how = 'draw = "random"\n'
    text = shares("edu", how, low=0.2, middle=0.3, high=0.5) + AGE + how + JOB + how + PAY + how
    few, many = people(text, 100), people(text, 2000)
    assert [few.person(i) for i in range(100)] == [many.person(i) for i in range(100)]
    assert all(comparison.p_value > 1e-4 for comparison in many.report.comparisons)


def test_attributes_are_independent_of_each_other() -> None:
    found = people(shares("x", a=0.5, b=0.5) + shares("y", a=0.5, b=0.5) + AGE, 4000)
    x, y, age = (
        getattr(found.columns[n], "codes", getattr(found.columns[n], "array", None))
        for n in ("x", "y", "age")
    )
    assert np.abs(np.corrcoef([x, y, age]) - np.eye(3)).max() < 0.06


def test_typed_categories() -> None:
    found = people(
        shares("smokes", 'type = "boolean"', true=0.25, false=0.75)
        + shares("children", 'type = "integer"', **{"0": 0.5, "2": 0.5})
        + shares("born", 'type = "date"', **{"2000-02-29": 1}),
        4,
    )
    assert Counter(found.columns["smokes"].values()) == {True: 1, False: 3}
    assert Counter(found.columns["children"].values()) == {0: 2, 2: 2}
    assert found.person(0)["born"] == date(2000, 2, 29)
    assert all(comparison.largest_deviation == 0 for comparison in found.report.comparisons)


def test_tables_by_numbers_and_parameters_by_row() -> None:
    text = (
        AGE
        + '[attributes.pension]\nfrom = "table"\ngiven = ["age"]\ncolumns = ["yes", "no"]\n'
        + 'rows = [["65+", 1, 0], ["*", 0, 1]]\n'
    )
    text += (
        "[attributes.height]\n"
        'from = "table"\n'
        'given = ["pension"]\n'
        'distribution = "uniform"\n'
        'type = "integer"\n'
    )
    text += 'columns = ["low", "high"]\nrows = [["yes", 150, 160], ["no", 170, 180]]\n'
    found = people(text)
    for person in map(found.person, range(1000)):
        assert (person["pension"] == "yes") == (person["age"] >= 65)
        assert (
            150 <= person["height"] <= 160 if person["pension"] == "yes" else 170 <= person["height"] <= 180
        )


def test_texts_and_personas_are_made_of_attributes() -> None:
    text = AGE + JOB.replace('["edu"]', '["age"]').replace('"low"', '"18-40"')
    text += (
        "[attributes.line]\n"
        'from = "text"\n'
        'template = "{{ job }} of {{ age }}"\n'
        "[persona]\n"
        'template = "You are {{ line|article }}."\n'
    )
    found = people(text)
    person = found.person(7)
    assert person["line"] == f"{person['job']} of {person['age']}"
    assert found.persona(7) == f"You are a {person['line']}."
    assert found.names == ["age", "job", "line"]
    assert people(AGE).persona(0) == ""


def test_columns_are_read_only_and_compact() -> None:
    found = people(EDU + AGE)
    edu, age = found.columns["edu"], found.columns["age"]
    assert isinstance(edu, Categorical)
    assert (edu.codes.dtype, age.array.dtype) == (np.uint8, np.int8)
    with pytest.raises(ValueError, match="read-only"):
        edu.codes[0] = 1


def test_a_population_may_have_nothing_but_a_size() -> None:
    found = people("", 10)
    assert (found.n, found.names, found.person(3)) == (10, [], {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "size = 2147483648\n" + AGE,
            r"2,147,483,648 people with their attributes need about",
        ),
        (shares("x", a=0.3), r"population\.attributes\.x\.shares: the shares add up to 0\.3, 0\.7 below 1"),
        (
            AGE + JOB.replace('"edu"', '"age"'),
            r"attributes\.job\.rows: row 1: \"low\" is no value of \"age\"",
        ),
        (
            EDU + JOB.replace('["*", 0.25, 0.75]', '["high", 1, 0]'),
            r'no row is for "middle" \(edu\): 300 people',
        ),
        (
            AGE + '[attributes.x]\nfrom = "expression"\nexpression = "1 / (age - 45)"',
            r'attributes\.x\.expression: "1 / \(age - 45\)": .*not finite',
        ),
    ],
)
def test_what_cannot_be_built_is_told(text: str, words: str) -> None:
    with pytest.raises(PopulationError, match=words):
        people(text)

"""Conditions that have to hold, and what is left of the quotas when they do."""

import numpy as np
import pytest

from engine.population.faults import PopulationError
from tests.fakes.populations import people, shares

AGE = """
[attributes.age]
from = "distribution"
distribution = "uniform"
parameters = { low = 10, high = 60 }
type = "integer"
"""
RULE = '[[constraints]]\nrequire = "age >= 25 or job != \'doctor\'"\nreason = "nobody studies that fast"\n'
JOB = shares("job", doctor=0.2, cook=0.8)


def youngest_doctor(found) -> int:
    return min(found.person(i)["age"] for i in range(found.n) if found.person(i)["job"] == "doctor")


def test_quotas_survive_a_constraint() -> None:
    found = people(AGE + JOB + RULE)
    assert youngest_doctor(found) >= 25
    assert [comparison.largest_deviation < 1 for comparison in found.report.comparisons] == [True, True]
    assert found.report.notes[0].endswith(
        "people were drawn again, or exchanged values, to meet the constraints"
    )


def test_random_attributes_are_drawn_again_each_person_apart() -> None:
    text = AGE + 'draw = "random"\n' + shares("job", 'draw = "random"', doctor=0.2, cook=0.8) + RULE
    few, many = people(text, 300), people(text, 3000)
    assert youngest_doctor(many) >= 25
    assert [few.person(i) for i in range(300)] == [many.person(i) for i in range(300)]
    unbound = people(text.replace(RULE, ""), 3000)
    kept = [i for i in range(3000) if unbound.person(i)["age"] >= 25 or unbound.person(i)["job"] != "doctor"]
    assert all(unbound.person(i) == many.person(i) for i in kept)


def test_conditional_quotas_survive_too() -> None:
    table = """
[attributes.job]
from = "table"
given = ["edu"]
columns = ["cook", "doctor"]
rows = [["low", 0.9, 0.1], ["high", 0.5, 0.5]]
[attributes.income]
from = "table"
given = ["job"]
columns = ["poor", "rich"]
rows = [["cook", 0.8, 0.2], ["doctor", 0.1, 0.9]]
[attributes.is_rich_doctor]
from = "expression"
expression = "job == 'doctor' and income == 'rich'"
"""
    found = people(AGE + shares("edu", low=0.6, high=0.4) + table + RULE)
    assert youngest_doctor(found) >= 25
    assert all(comparison.largest_deviation < 1 for comparison in found.report.comparisons)
    for person in map(found.person, range(found.n)):
        assert person["is_rich_doctor"] == (person["job"] == "doctor" and person["income"] == "rich")


def test_several_constraints_hold_together() -> None:
    more = "[[constraints]]\nrequire = \"age < 40 or job == 'doctor' or married\"\n"
    found = people(AGE + JOB + shares("married", 'type = "boolean"', true=0.5, false=0.5) + RULE + more)
    for person in map(found.person, range(found.n)):
        assert person["age"] >= 25 or person["job"] != "doctor"
        assert person["age"] < 40 or person["job"] == "doctor" or person["married"]
    assert all(comparison.largest_deviation < 1 for comparison in found.report.comparisons)


def test_joint_tables_survive() -> None:
    rows = '[["m", "doctor", 2], ["m", "cook", 1], ["f", "cook", 3]]'
    tables = f'[[tables]]\nattributes = ["sex", "job"]\nrows = {rows}\n'
    found = people(AGE + tables + RULE, 600)
    assert youngest_doctor(found) >= 25
    assert all(comparison.largest_deviation < 1 for comparison in found.report.comparisons)


def test_what_cannot_hold_is_told_with_an_example() -> None:
    text = AGE + shares("job", doctor=0.9, cook=0.1) + RULE
    words = r"doctor'\" cannot hold \(nobody studies that fast\) for \d+ of 1,000: for example age = "
    with pytest.raises(PopulationError, match=words) as caught:
        people(text)
    assert caught.value.where == "population.constraints.1"
    with pytest.raises(PopulationError, match="cannot hold for 1,000 of 1,000"):
        people('[[constraints]]\nrequire = "age > 100"\n' + AGE + 'draw = "random"\n')


def test_a_condition_that_is_none_is_told() -> None:
    with pytest.raises(PopulationError, match="neither true nor false"):
        people('[[constraints]]\nrequire = "age + 1"\n' + AGE)


def test_households_are_drawn_again_together() -> None:
    text = '[households]\nsizes = { "1" = 0.5, "3" = 0.5 }\n' + AGE + 'draw = "random"\n'
    text += '[attributes.children]\nfrom = "expression"\ntype = "integer"\n'
    text += 'expression = "household_count(age < 18)"\n'
    text += (
        '[[constraints]]\nrequire = "household_max(age) >= 18"\n[[constraints]]\nrequire = "children < 2"\n'
    )
    found = people(text)
    ages, homes = found.columns["age"].array, found.columns["household"].array
    for home in range(homes.max() + 1):
        members = ages[homes == home]
        assert members.max() >= 18
        assert (members < 18).sum() < 2
        assert set(np.asarray(found.columns["children"].array)[homes == home]) == {(members < 18).sum()}


def test_earlier_conditions_on_households_hold_when_persons_are_drawn_again() -> None:
    text = '[households]\nsizes = { "3" = 1 }\n' + AGE + 'draw = "random"\n'
    text += shares("job", 'draw = "random"', doctor=0.5, cook=0.5)
    text += '[[constraints]]\nrequire = "household_max(age) >= 50"\n' + RULE
    found = people(text, 900)
    assert youngest_doctor(found) >= 25
    assert found.columns["age"].array.reshape(-1, 3).max(axis=1).min() >= 50


def test_conditions_on_the_size_of_households_wait_for_the_people() -> None:
    text = (
        '[households]\nsizes = { "2" = 1 }\n[[constraints]]\nrequire = "household_sum(household_size) == 4"\n'
    )
    assert people(text, 10).n == 10


def test_constraints_among_households_attributes_hold_before_members_get_them() -> None:
    text = '[households]\nsizes = { "2" = 1 }\n' + shares("street", 'per = "household"', Elm=0.5, Oak=0.5)
    text += shares("house", 'per = "household"', flat=0.5, villa=0.5)
    text += "[[constraints]]\nrequire = \"street != 'Elm' or house == 'flat'\"\n"
    found = people(text, 400)
    assert all(comparison.largest_deviation == 0 for comparison in found.report.comparisons)
    for i in range(0, 400, 2):
        assert found.person(i)["house"] == found.person(i + 1)["house"]
        assert found.person(i)["street"] != "Elm" or found.person(i)["house"] == "flat"

"""The populations that come along: what their figures say is what their people are."""

from collections import Counter

import pytest

from app import settings
from engine.population.build import build
from engine.population.people import People


def people(name: str, *sets: str) -> People:
    population = settings.load(name, sets, environ={}).preset
    return build(population.population, population.seed)


@pytest.mark.parametrize(
    "name", ["study_education", "study_occupations", "spain_adults", "school_class", "town"]
)
def test_everybody_has_a_persona(name: str) -> None:
    found = people(name)
    personas = [found.persona(i) for i in range(0, found.n, 7)]
    assert all(text.startswith("You are ") and text.endswith(".") for text in personas)


def test_the_studys_mixes_are_exact() -> None:
    education = people("study_education").columns
    assert set(Counter(education["education"].values()).values()) == {200}
    pairs = Counter(zip(education["gender"].values(), education["education"].values(), strict=True))
    assert set(pairs.values()) == {100}
    assert set(Counter(people("study_occupations").columns["occupation"].values()).values()) == {100}


def test_adults_of_spain_agree_with_the_official_figures() -> None:
    found = people("spain_adults", "population.size=100000")
    assert [c.kind for c in found.report.comparisons] == ["joint", "joint", "joint", "conditional"]
    assert all(c.source.startswith("INE, table 55462") for c in found.report.comparisons[:3])
    assert max(c.largest_deviation for c in found.report.comparisons) < 3
    (fitting,) = found.report.fittings
    assert fitting.deviation < 1e-6
    women = sum(sex == "female" for sex in found.columns["sex"].values()) / found.n
    assert women == pytest.approx(20_381_392 / 39_656_166, abs=2e-5)
    online = sum(map(bool, found.columns["uses_internet"].values())) / found.n
    assert online == pytest.approx(31_311_006 / 39_656_166, abs=2e-5)


def test_pupils_are_of_one_year_and_know_who_sits_beside_them() -> None:
    found = people("school_class")
    assert set(found.columns["age"].values()) <= {10, 11}
    assert all(len(found.neighbours(i, "desk")) == 2 for i in range(found.n))
    girls = {"Ada", "Bea", "Cleo", "Dora", "Ella", "Fay"}
    assert all((p["name"] in girls) == (p["gender"] == "girl") for p in map(found.person, range(found.n)))


def test_households_of_the_town_share_an_address_and_make_sense() -> None:
    found = people("town")
    homes: dict[object, list[int]] = {}
    for i, home in enumerate(found.columns["household"].values()):
        homes.setdefault(home, []).append(i)
    for members in homes.values():
        persons = [found.person(i) for i in members]
        assert len({(p["address"], p["surname"]) for p in persons}) == 1
        assert len(members) == persons[0]["household_size"]
        assert [p["role"] for p in persons].count("head") == 1
        assert persons[0]["age"] >= 18  # type: ignore[operator]
        for person in persons[1:]:
            if person["role"] == "child":
                assert persons[0]["age"] - person["age"] >= 18  # type: ignore[operator]
        assert all(set(found.neighbours(i, "family")) == set(members) - {i} for i in members)
    singles = sum(len(members) == 1 for members in homes.values())
    assert singles / len(homes) == pytest.approx(373_120 / 1_519_038, abs=0.002)

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.population.households import draw
from engine.population.settings import Households
from tests.fakes.populations import people, shares

SIZES = {"1": 0.4, "2": 0.35, "4": 0.25}
TEXT = '[households]\nsizes = { "1" = 0.4, "2" = 0.35, "4" = 0.25 }\n'


@given(
    st.dictionaries(st.integers(1, 9), st.integers(1, 10), min_size=1),
    st.integers(1, 500),
    st.integers(0, 99),
    st.sampled_from(["exact", "random"]),
)
def test_households_hold_everybody(weights: dict[int, int], n: int, seed: int, how: str) -> None:
    total = sum(weights.values())
    settings = Households(sizes={str(size): weight / total for size, weight in weights.items()}, draw=how)
    grouping = draw(settings, n, seed)
    assert grouping.sizes.sum() == n
    assert set(grouping.sizes[:-1].tolist()) <= weights.keys()
    assert 0 < grouping.sizes[-1] <= max(weights)
    assert (np.diff(grouping.of_person) >= 0).all()


def test_sizes_have_their_quotas() -> None:
    sizes = Counter(draw(Households(sizes=SIZES), 2100, 1).sizes.tolist())
    assert sizes == {1: 400, 2: 350, 4: 250}


def test_random_households_do_not_change_when_there_are_more() -> None:
    settings = Households(sizes=SIZES, draw="random")
    few, many = draw(settings, 300, 1).sizes, draw(settings, 3000, 1).sizes
    assert (few[:-1] == many[: len(few) - 1]).all()
    assert Counter(many.tolist())[1] / len(many) == pytest.approx(0.4, abs=0.05)


def test_members_share_what_households_have() -> None:
    text = TEXT + shares("street", 'per = "household"', Elm=0.5, Oak=0.5) + shares("job", a=0.5, b=0.5)
    text += '[attributes.rent]\nfrom = "table"\nper = "household"\ngiven = ["street", "household_size"]\n'
    text += 'columns = ["low", "high"]\n'
    text += 'rows = [["Elm", "1", 1, 0], ["Elm", "2-4", 0, 1], ["Oak", "*", 0.5, 0.5]]\n'
    found = people(text, 2100)
    homes: dict[object, set[tuple[object, ...]]] = {}
    for i in range(found.n):
        person = found.person(i)
        homes.setdefault(person["household"], set()).add(
            (person["street"], person["rent"], person["household_size"])
        )
    assert {len(home) for home in homes.values()} == {1}
    assert Counter(street for ((street, _, _),) in homes.values()) == {"Elm": 500, "Oak": 500}
    assert found.person(0)["member"] == 1
    assert found.report.comparisons[0].largest_deviation == 0

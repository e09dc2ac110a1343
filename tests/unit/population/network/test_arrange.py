"""Numbers that keep neighbours on one worker."""

import numpy as np
import pytest

from engine.population.network.arrange import crossing, even_bounds
from engine.population.network.graph import from_ties
from tests.fakes.populations import people, shares

HOMOPHILY = (
    '[networks.friends]\nkind = "homophily"\nattributes = ["town"]\nmean_degree = 8\nhomophily = 0.9\n'
)
TOWNS = shares("town", **{f"t{i}": 0.05 for i in range(20)})
SPATIAL = '[networks.near]\nkind = "spatial"\nmean_degree = 8\n'


def test_crossing_is_the_share_of_ties_between_ranges() -> None:
    path = from_ties(6, np.arange(5), np.arange(1, 6))
    assert crossing(path, even_bounds(6, 2)) == pytest.approx(1 / 5)
    assert crossing(path, [0, 1, 2, 3, 4, 5]) == 1
    assert crossing(from_ties(6, np.arange(0), np.arange(0)), [0, 3]) == 0


@pytest.mark.parametrize(("text", "most"), [(TOWNS + HOMOPHILY, 0.4), (SPATIAL, 0.5)])
def test_neighbours_get_numbers_near_each_other(text: str, most: float) -> None:
    drawn, arranged = people('arrange = "drawn"\n' + text, 2000), people(text, 2000)
    assert drawn.graph
    assert arranged.graph
    bounds = even_bounds(2000, 16)
    assert crossing(drawn.graph, bounds) > 0.9
    assert crossing(arranged.graph, bounds) < most
    assert sorted(drawn.graph.degrees) == sorted(arranged.graph.degrees)


def test_attributes_go_with_their_people() -> None:
    drawn, arranged = people('arrange = "drawn"\n' + TOWNS + HOMOPHILY, 500), people(TOWNS + HOMOPHILY, 500)
    for found in (drawn, arranged):
        assert found.graph
        one, other = found.graph.ends()
        codes = found.columns["town"].codes
        assert (codes[one] == codes[other]).mean() > 0.88
    assert sorted(drawn.columns["town"].values()) == sorted(arranged.columns["town"].values())


def test_households_stay_together() -> None:
    text = '[households]\nsizes = { "3" = 1 }\n' + shares(
        "town", 'per = "household"', **{f"t{i}": 0.1 for i in range(10)}
    )
    found = people(text + HOMOPHILY + '[networks.family]\nkind = "groups"\nattributes = ["household"]\n', 600)
    homes = found.columns["household"].array
    assert np.count_nonzero(np.diff(homes)) == 199
    assert not (np.diff(homes) >= 0).all()
    assert [found.columns["member"].value(i) for i in range(6)] == [1, 2, 3, 1, 2, 3]
    assert found.neighbours(4, "family").tolist() == [3, 5]
    assert set(found.neighbours(4)) == {3, 5, *found.neighbours(4, "friends")}
    with pytest.raises(KeyError):
        found.neighbours(4, "foes")


def test_nobody_knows_anybody_without_a_network() -> None:
    assert people("", 3).neighbours(1).tolist() == []

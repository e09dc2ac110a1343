"""Networks have what their textbook formulas say."""

import numpy as np
import pytest
from scipy import stats

from engine.population.column import Column, Numeric, categorical
from engine.population.faults import PopulationError
from engine.population.network.build import build
from engine.population.network.describe import describe
from engine.population.network.graph import Graph
from engine.population.network.settings import (
    Blocks,
    Groups,
    Homophily,
    Network,
    Preferential,
    Random,
    SmallWorld,
    Spatial,
)

N = 4000
TOWN = categorical(np.arange(N) % 4 // 2 + np.arange(N) % 2, ["a", "b", "c"])  # a quarter, a half, a quarter
COLUMNS: dict[str, Column] = {
    "town": TOWN,
    "home": Numeric(np.arange(N) // 3, "integer"),
    "x": Numeric(stats.norm.ppf((np.arange(N) * 7919 % N + 0.5) / N), "real"),
    "y": Numeric(stats.norm.ppf((np.arange(N) * 104729 % N + 0.5) / N), "real"),
}


def made(settings: Network, seed: int = 1, n: int = N) -> Graph:
    return build(
        "net", settings, {name: column.take(np.arange(n)) for name, column in COLUMNS.items()}, n, seed
    )


@pytest.mark.parametrize(
    "settings",
    [
        Random(mean_degree=6),
        SmallWorld(neighbours=6),
        Preferential(ties=3),
        Blocks(attribute="town", degrees={"a": {"a": 6}, "b": {"b": 6}}),
        Homophily(attributes=("town",), mean_degree=6, homophily=0.5),
        Spatial(mean_degree=6),
    ],
)
def test_a_seed_gives_one_network(settings: Network) -> None:
    assert (made(settings).others == made(settings).others).all()
    other = made(settings, seed=2)
    assert len(other.others) != len(made(settings).others) or (other.others != made(settings).others).any()


def test_random_degrees_are_binomial() -> None:
    degrees = made(Random(mean_degree=6)).degrees
    law = stats.binom(N - 1, 6 / (N - 1))
    counts = np.bincount(np.clip(degrees, 1, 13), minlength=14)[1:]
    wanted = np.array([law.cdf(1), *law.pmf(np.arange(2, 13)), law.sf(12)]) * N
    assert stats.chisquare(counts, wanted).pvalue > 1e-3  # degrees hardly depend on each other


def test_random_networks_can_be_complete() -> None:
    assert set(made(Random(mean_degree=9), n=10).degrees.tolist()) == {9}


@pytest.mark.parametrize("rewired", [0.0, 0.1, 0.3])
def test_small_worlds_cluster_by_the_formula(rewired: float) -> None:
    """C = 3 (k - 2) / (4 (k - 1)) (1 - p)^3 for k neighbours (Barrat and Weigt 2000)."""
    found = describe("net", made(SmallWorld(neighbours=10, rewired=rewired)))
    assert found.clustering == pytest.approx(3 * 8 / (4 * 9) * (1 - rewired) ** 3, abs=0.02)
    assert found.mean_degree == 10
    assert found.largest_component == 1


def test_a_small_world_wholly_rewired_is_a_random_network_with_a_least_degree() -> None:
    found = made(SmallWorld(neighbours=10, rewired=1.0))
    assert found.degrees.min() >= 5
    assert found.degrees.mean() == 10
    assert np.var(found.degrees) == pytest.approx(5, rel=0.1)  # k / 2 fixed, the rest Poisson of mean k / 2


@pytest.mark.parametrize("ties", [1, 2, 5])
def test_preferential_degrees_follow_the_power_law(ties: int) -> None:
    """P(k) = 2 m (m + 1) / (k (k + 1) (k + 2)) for m ties (Bollobás and others 2001)."""
    degrees = np.concatenate([made(Preferential(ties=ties), seed).degrees for seed in range(5)])
    assert degrees.min() == ties
    assert degrees.mean() == pytest.approx(2 * ties, rel=0.01)
    for k in range(ties, ties + 6):
        expected = 2 * ties * (ties + 1) / (k * (k + 1) * (k + 2))
        assert (degrees == k).mean() == pytest.approx(expected, abs=0.02)
    tail = 10 * ties
    assert (degrees >= tail).mean() == pytest.approx(ties * (ties + 1) / (tail * (tail + 1)), rel=0.35)


def test_blocks_have_their_densities() -> None:
    degrees = {"a": {"a": 8.0, "b": 2.0}, "b": {"b": 3.0, "a": 1.0}, "c": {"c": 0.0, "a": 4.0}}
    found = made(Blocks(attribute="town", degrees=degrees))
    one, other = found.ends()
    codes = TOWN.codes.astype(int)
    counts = np.zeros((3, 3))
    np.add.at(counts, (codes[one], codes[other]), 1)
    counts += counts.T
    sizes = np.bincount(codes)
    expected = np.array([[8, 2, 4], [1, 3, 0], [4, 0, 0]])
    mean = counts / sizes[:, None]
    assert np.abs(mean - expected).max() < 5 * (expected.max() / sizes.min()) ** 0.5
    assert (counts[1, 2], counts[2, 2]) == (0, 0)


@pytest.mark.parametrize(
    ("degrees", "words"),
    [
        ({"a": {"z": 1.0}}, '"z" is no category of "town"'),
        ({"a": {"b": 2.0}, "b": {"a": 2.0}}, '2 of "b" for each of 1,000 of "a" are not 2 for each of 2,000'),
        ({"a": {"a": 1000.0}}, '1000 neighbours among 999 others of "a"'),
    ],
)
def test_impossible_blocks_are_told(degrees: dict[str, dict[str, float]], words: str) -> None:
    with pytest.raises(PopulationError, match=words):
        made(Blocks(attribute="town", degrees=degrees))


@pytest.mark.parametrize("homophily", [0.0, 0.4, 1.0])
def test_homophily_is_colemans_index(homophily: float) -> None:
    found = made(Homophily(attributes=("town",), mean_degree=12, homophily=homophily))
    one, other = found.ends()
    alike = (TOWN.codes[one] == TOWN.codes[other]).mean()
    by_chance = (np.bincount(TOWN.codes) / N) @ (np.bincount(TOWN.codes) / N)
    assert alike == pytest.approx(homophily + (1 - homophily) * by_chance, abs=0.01)
    assert found.degrees.mean() == 12


def test_homophily_in_groups_too_small_ends() -> None:
    found = made(Homophily(attributes=("home",), mean_degree=8, homophily=1.0), n=60)
    assert found.degrees.max() == 2


def test_spatial_networks_cluster_by_the_formula() -> None:
    """1 - 3 sqrt(3) / (4 pi) in the plane, whatever the degree (Dall and Christensen 2002)."""
    found = describe("net", made(Spatial(mean_degree=12)))
    assert found.mean_degree == pytest.approx(12, rel=0.03)
    assert found.clustering == pytest.approx(1 - 3 * 3**0.5 / (4 * np.pi), abs=0.015)


def test_spatial_ties_are_those_within_a_distance() -> None:
    found = made(Spatial(mean_degree=10, position=("x", "y")))
    assert found.degrees.mean() == pytest.approx(10, rel=0.05)
    places = np.stack([COLUMNS["x"].array, COLUMNS["y"].array], axis=1)
    one, other = found.ends()
    reach = np.linalg.norm(places[one] - places[other], axis=1).max()
    for i in range(0, N, 400):
        near = np.flatnonzero(np.linalg.norm(places - places[i], axis=1) <= reach)
        assert set(near.tolist()) - {i} == set(found.neighbours(i).tolist())


def test_people_at_one_place_are_told() -> None:
    with pytest.raises(PopulationError, match="at the same places"):
        build("net", Spatial(mean_degree=3, position=("x", "x")), {"x": Numeric(np.zeros(50), "real")}, 50, 1)
    with pytest.raises(PopulationError, match='"town" is not a number'):
        made(Spatial(mean_degree=3, position=("x", "town")))


def test_groups_are_complete() -> None:
    found = made(Groups(attributes=("home",)), n=10)
    assert [found.neighbours(i).tolist() for i in (0, 4, 9)] == [[1, 2], [3, 5], []]
    both = made(Groups(attributes=("home", "town")))
    assert both.n_ties < made(Groups(attributes=("home",))).n_ties

"""Slices of the population: exact shares, drawn from the seed."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cluster import slices
from engine.errors import UsageError
from engine.models.settings import Dummy
from engine.population.settings import Population
from engine.preset.schema import Preset, Slice
from engine.scenarios.guess_average import GuessAverageSettings


def draw(shares: list[float], n_agents: int, seed: int) -> slices.Codes | None:
    return slices.draw([slices.Part(share) for share in shares], n_agents, seed)


SHARES = st.lists(st.floats(0.001, 1), min_size=1, max_size=6).map(
    lambda xs: [x / max(1.0, sum(xs)) * 0.999 for x in xs]
)


@given(SHARES, st.integers(1, 500), st.integers(0, 2**63 - 1))
def test_counts_are_within_one_of_their_share(shares: list[float], n_agents: int, seed: int) -> None:
    codes = draw(shares, n_agents, seed)
    assert codes is not None
    assert len(codes) == n_agents
    counts = np.bincount(codes, minlength=len(shares) + 1)
    for count, share in zip(counts, [1 - sum(shares), *shares], strict=True):
        assert abs(count - share * n_agents) < 1 + 1e-6


@pytest.mark.parametrize(
    ("shares", "n", "counts"), [([0.5], 10, [5, 5]), ([1.0], 3, [0, 3]), ([1 / 3] * 3, 9, [0, 3, 3, 3])]
)
def test_whole_shares_are_exact(shares: list[float], n: int, counts: list[int]) -> None:
    codes = draw(shares, n, 1)
    assert codes is not None
    assert np.bincount(codes, minlength=len(counts)).tolist() == counts


def test_no_slices_no_codes() -> None:
    assert draw([], 10, 1) is None


def test_who_is_in_a_slice_depends_on_the_seed_alone() -> None:
    ours, again, theirs = (draw([0.5], 1000, seed) for seed in (1, 1, 2))
    assert ours is not None
    assert again is not None
    assert theirs is not None
    assert (ours == again).all()
    assert 350 < (ours == theirs).sum() < 650
    assert abs(ours[:500].mean() - 0.5) < 0.1, "neighbours are mixed"


@pytest.mark.parametrize(("n_slices", "n_bytes"), [(1, 1), (255, 1), (256, 2), (300, 2)])
def test_any_number_of_slices(n_slices: int, n_bytes: int) -> None:
    codes = draw([1 / n_slices] * n_slices, 3 * n_slices, 1)
    assert codes is not None
    assert codes.itemsize == n_bytes
    assert np.bincount(codes).tolist() == [0] + [3] * n_slices


ATTRIBUTES = {
    "age": {"from": "distribution", "distribution": "uniform", "parameters": {"low": 20, "high": 79}}
    | {"type": "integer"},
    "job": {"from": "shares", "shares": {"cook": 0.5, "nurse": 0.5}},
}


def preset(*parts: Slice, size: int = 600, **population: object) -> Preset:
    table = {"size": size, "attributes": ATTRIBUTES, **population}
    return Preset(
        name="trial",
        scenario=GuessAverageSettings(),
        population=msgspec.convert(table, Population),
        model=Dummy(),
        slices=parts,
    )


def counted(found: Preset) -> list[int]:
    codes = slices.codes_of(found, None)
    assert codes is not None
    return np.bincount(codes, minlength=len(found.slices) + 1).tolist()


def test_who_fits_is_in_the_slice_and_nobody_else() -> None:
    from engine.population.build import build

    found = preset(Slice(name="old", where="age >= 60"), Slice(name="cooks", where="job == 'cook'"))
    people, codes = build(found.population, found.seed), slices.codes_of(found, None)
    assert codes is not None
    expected = [
        1 if p["age"] >= 60 else 2 if p["job"] == "cook" else 0 for p in map(people.person, range(600))
    ]
    assert codes.tolist() == expected
    assert expected.count(1) == 200


def test_shares_of_those_who_fit_and_of_those_who_are_left() -> None:
    old = Slice(name="old", where="age >= 60", share=0.25)
    assert counted(preset(old)) == [550, 50]
    assert counted(preset(old, Slice(name="some", share=0.5))) == [250, 50, 300]
    assert counted(preset(Slice(name="some", share=1 / 3), Slice(name="old", where="age >= 60"))) == [
        200,
        200,
        200,
    ]


def test_too_few_are_left() -> None:
    with pytest.raises(UsageError, match=r"shares of 0\.7 .* leave 0\.6667"):
        counted(preset(Slice(name="old", where="age >= 60"), Slice(name="most", share=0.7)))


def test_conditions_about_households() -> None:
    found = preset(
        Slice(name="with others", where="household_count(age >= 0) > 1"),
        size=300,
        households={"sizes": {"1": 0.5, "2": 0.5}},
        networks={"home": {"kind": "groups", "attributes": ["household"]}},
    )
    assert counted(found) == [100, 200]


@pytest.mark.parametrize("where", ["age", "age > 'x'", "job == 'pilot'", "household_count(age > 1) > 1"])
def test_conditions_that_are_none(where: str) -> None:
    with pytest.raises(UsageError) as caught:
        counted(preset(Slice(name="odd", where=where)))
    assert caught.value.where == "slices.1.where"

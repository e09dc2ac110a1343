"""Raking against an independent implementation, and against what theory says of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ipfn import ipfn

from engine.population.integerise import integerise
from engine.population.raking import Margin, rake

SHAPES = st.lists(st.integers(1, 4), min_size=2, max_size=3)


def margins(shape: list[int], axes: list[tuple[int, ...]], table: np.ndarray) -> list[Margin]:
    indices = np.indices(shape).reshape(len(shape), -1)
    found = []
    for kept in axes:
        sizes = [shape[a] for a in kept]
        of_cell = np.ravel_multi_index([indices[a] for a in kept], sizes)
        found.append(
            Margin(of_cell, np.bincount(of_cell, weights=table.ravel(), minlength=int(np.prod(sizes))))
        )
    return found


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], np.ndarray, np.ndarray, list[tuple[int, ...]]]:
    """A shape, a seed table, a table that has the margins wanted, and which margins are wanted."""
    shape = draw(SHAPES)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    axes = [(a,) for a in range(len(shape))]
    if len(shape) == 3 and draw(st.booleans()):
        axes = [(0, 1), (1, 2), (0,)]
    return shape, rng.gamma(2.0, size=shape) + 0.05, rng.gamma(2.0, size=shape) + 0.05, axes


@given(problems())
def test_every_margin_is_met_and_ipfn_agrees(problem: tuple) -> None:
    shape, seed, wanted, axes = problem
    found = rake(seed.ravel(), margins(shape, axes, wanted), tolerance=1e-10, max_iterations=5000)
    assert found.converged
    for margin in margins(shape, axes, wanted):
        assert np.abs(margin.sums(found.cells) - margin.targets).max() <= 1e-10 * wanted.sum()
    targets = [wanted.sum(axis=tuple(a for a in range(len(shape)) if a not in kept)) for kept in axes]
    scaled = seed / seed.sum() * wanted.sum()
    theirs = ipfn.ipfn(
        scaled, targets, [list(kept) for kept in axes], convergence_rate=1e-12, max_iteration=5000
    )
    assert np.allclose(found.cells, theirs.iteration().ravel(), rtol=1e-5, atol=1e-8)


def test_odds_ratios_of_the_seed_are_kept() -> None:
    wanted = np.array([[30.0, 20.0], [10.0, 40.0]])
    cells = rake(
        np.array([8.0, 1.0, 2.0, 3.0]),
        margins([2, 2], [(0,), (1,)], wanted),
        tolerance=1e-12,
        max_iterations=1000,
    ).cells
    assert cells[0] * cells[3] / (cells[1] * cells[2]) == pytest.approx(8 * 3 / (1 * 2))


def test_what_the_seed_rules_out_is_not_reached() -> None:
    wanted = np.array([[30.0, 20.0], [10.0, 40.0]])
    found = rake(
        np.array([0.0, 0.0, 1.0, 1.0]),
        margins([2, 2], [(0,), (1,)], wanted),
        tolerance=1e-6,
        max_iterations=100,
    )
    assert not found.converged
    assert found.deviation == pytest.approx(0.5)


def test_fitting_ends_where_nothing_moves_any_more() -> None:
    seed = np.array([1.0, 0.0, 0.0, 1.0])  # the diagonal cannot have different row and column sums
    wanted = np.array([[30.0, 20.0], [10.0, 40.0]])
    found = rake(seed, margins([2, 2], [(0,), (1,)], wanted), tolerance=1e-6, max_iterations=100_000)
    assert not found.converged
    assert found.iterations < 100


@given(problems(), st.integers(1, 300), st.integers(0, 100))
def test_whole_people_are_neighbours_of_the_fitted_cells(problem: tuple, total: int, seed: int) -> None:
    shape, _, wanted, axes = problem
    table = wanted / wanted.sum() * total
    counts = integerise(table.ravel(), total, margins(shape, axes, table), seed)
    assert counts.sum() == total
    assert (np.abs(counts - table.ravel()) < 1 + 1e-6).all()


def test_margins_in_whole_people_are_met_exactly() -> None:
    rng = np.random.default_rng(3)
    shape, axes = [4, 5, 6], [(0,), (1,), (2,)]
    table = rng.multinomial(2000, rng.dirichlet(np.ones(120))).reshape(shape).astype(float)
    wanted = margins(shape, axes, table)
    cells = rake(np.ones(120), wanted, tolerance=1e-12, max_iterations=1000).cells
    counts = integerise(cells, 2000, wanted, 1)
    assert [np.abs(m.sums(counts) - m.targets).max() for m in wanted] == [0, 0, 0]


def test_rare_kinds_of_people_are_not_left_out() -> None:
    cells = np.array([0.1] * 10 + [0.9] * 10)  # the largest remainders would take none of the first ten
    drawn = sum(integerise(cells, 10, [], seed) for seed in range(500))
    assert np.abs(drawn / 500 - cells).max() < 0.06

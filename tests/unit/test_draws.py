"""Random numbers by what they are for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.draws import mix, uniform, uniforms
from engine.keys import pack

SEEDS = st.integers(0, 2**63 - 1)
NUMBERS = st.integers(0, 2**63 - 1)


@given(SEEDS, st.lists(NUMBERS, max_size=20))
def test_an_array_draws_what_single_numbers_draw(seed: int, numbers: list[int]) -> None:
    drawn = uniforms(seed, np.array(numbers, dtype=np.int64))
    assert drawn.tolist() == [uniform(seed, n) for n in numbers]


@given(SEEDS, NUMBERS)
def test_numbers_are_in_the_unit_interval(seed: int, n: int) -> None:
    assert 0 <= uniform(seed, n) < 1


def test_the_mixing_function_is_splitmix64() -> None:
    """First outputs of the published generator with seed 1234567 (Vigna, prng.di.unimi.it/splitmix64.c)."""
    golden = 0x9E3779B97F4A7C15
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [mix(0, (1234567 + k * golden) % 2**64) for k in range(3)] == published


@pytest.mark.parametrize("seed", [0, 1, 2**62])
def test_keys_of_a_round_draw_uniform_and_independent_numbers(seed: int) -> None:
    keys = np.array([pack(1, agent) for agent in range(20_000)])
    drawn = uniforms(seed, keys)
    assert stats.kstest(drawn, "uniform").pvalue > 0.001
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.03
    later = uniforms(seed, np.array([pack(2, agent) for agent in range(20_000)]))
    assert abs(np.corrcoef(drawn, later)[0, 1]) < 0.03


@pytest.mark.parametrize("apart", [1, 2, 1000])
def test_seeds_are_independent_of_each_other(apart: int) -> None:
    keys = np.array([pack(1, agent) for agent in range(20_000)])
    ours, theirs = uniforms(1, keys), uniforms(1 + apart, keys)
    assert abs(np.corrcoef(ours, theirs)[0, 1]) < 0.03
    assert len(np.intersect1d(ours, theirs)) == 0

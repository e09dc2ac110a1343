from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelError
from engine.models.llama_cpp.sampling import distribution, draws, log_probability
from engine.models.protocol import Sampling

LOGITS = np.log(np.array([0.1, 0.4, 0.2, 0.3], np.float32))
GRID = (np.arange(10_000) + 0.5) / 10_000


def shares(sampling: Sampling, allowed: np.ndarray | None = None) -> list[float]:
    tokens = distribution(LOGITS, sampling, allowed).draw(GRID)
    return [round(share, 3) for share in np.bincount(tokens, minlength=4) / len(tokens)]


def test_tokens_come_as_often_as_they_are_likely():
    assert shares(Sampling()) == [0.1, 0.4, 0.2, 0.3]


def test_temperature_sharpens_and_zero_takes_the_likeliest():
    squared = np.array([0.01, 0.16, 0.04, 0.09]) / 0.3
    assert shares(Sampling(temperature=0.5)) == pytest.approx(squared, abs=1e-3)
    assert shares(Sampling(temperature=0)) == [0, 1, 0, 0]


def test_the_limits_cut_off_the_unlikely():
    assert shares(Sampling(top_k=2)) == pytest.approx([0, 4 / 7, 0, 3 / 7], abs=1e-3)
    assert shares(Sampling(top_p=0.65)) == pytest.approx([0, 4 / 7, 0, 3 / 7], abs=1e-3)
    assert shares(Sampling(min_p=0.6)) == pytest.approx([0, 4 / 7, 0, 3 / 7], abs=1e-3)
    assert shares(Sampling(min_p=0.4, top_k=3, top_p=0.5)) == pytest.approx([0, 4 / 7, 0, 3 / 7], abs=1e-3)


def test_only_allowed_tokens_are_drawn():
    assert shares(Sampling(), np.array([0, 3])) == [0.25, 0, 0, 0.75]
    assert shares(Sampling(temperature=0), np.array([0, 2])) == [0, 0, 1, 0]


@given(st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=40), st.floats(0.01, 0.999))
def test_top_p_is_the_smallest_set_that_reaches_it(logits, top_p):
    array = np.array(logits, np.float32)
    weights = np.exp(array.astype(np.float64) - array.max())
    weights /= weights.sum()
    drawn = sorted(
        set(distribution(array, Sampling(top_p=top_p)).draw(GRID)), key=lambda token: -weights[token]
    )
    assert weights[drawn[:-1]].sum() < top_p + 1e-4


def test_unusable_logits_are_an_error():
    with pytest.raises(ModelError):
        distribution(np.array([np.nan, np.nan], np.float32), Sampling())


def test_draws_depend_on_seed_key_and_position_alone():
    both = draws(1, [7, 9], 3)
    assert draws(1, [9], 3)[0] == both[1]
    assert len({*both, draws(2, [7], 3)[0], draws(1, [7], 4)[0]}) == 4


def test_log_probabilities_are_those_at_temperature_1_among_what_is_allowed():
    logits = np.log(np.array([1, 4, 2, 3], np.float32)) + 50
    assert np.exp(log_probability(logits, 3)) == pytest.approx(0.3)
    assert np.exp(log_probability(logits, 3, np.array([0, 3]))) == pytest.approx(0.75)

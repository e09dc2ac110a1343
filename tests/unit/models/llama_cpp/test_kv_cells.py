from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.llama_cpp.kv_cells import Cells, Layout, UnknownLayout, cut, join

PLAIN = Layout(b"magicseq", 4, 3, 1, 6, 1, 4, 0)
TRANSPOSED = Layout(b"magicseq", 4, 3, 1, 6, 1, 2, 5)


def saved(layout: Layout, tokens: int, seed: int = 0) -> np.ndarray:
    """A block as llama.cpp would save it."""
    random = np.random.default_rng(seed)
    keys = random.integers(0, 256, (layout.layers, tokens, layout.key_bytes), np.uint8)
    if layout.elements:
        values = random.integers(0, 1 << 16, (layout.layers, layout.elements, tokens), np.uint16)
    else:
        values = random.integers(0, 256, (layout.layers, tokens, layout.value_bytes), np.uint8)
    return join([Cells(keys, values, layout)])


@pytest.mark.parametrize("layout", [PLAIN, TRANSPOSED])
@given(tokens=st.integers(2, 9), data=st.data())
def test_what_was_cut_can_be_joined_again(layout, tokens, data):
    block = saved(layout, tokens)
    cells = cut(block, tokens)
    at = data.draw(st.integers(1, tokens - 1))
    assert np.array_equal(join([cells.part(0, at).copy(), cells.part(at, tokens)]), block)
    assert cells.part(0, at).tokens == at


@pytest.mark.parametrize("layout", [PLAIN, TRANSPOSED])
@given(data=st.data())
def test_a_block_that_is_not_as_expected_is_refused_or_harmless(layout, data):
    block = saved(layout, 3).copy()
    at = data.draw(st.integers(0, len(block) - 1))
    block[at] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(UnknownLayout):
        assert len(join([cut(block, 3)])) == len(block)


@pytest.mark.parametrize(
    "block", [saved(PLAIN, 3)[:-1], saved(PLAIN, 3)[:20], np.zeros(400, np.uint8), saved(PLAIN, 4)]
)
def test_a_block_of_another_size_is_refused(block):
    with pytest.raises(UnknownLayout):
        cut(block, 3)


def test_a_gap_in_the_positions_is_refused():
    block = saved(PLAIN, 3).copy()
    block[16:20] = [7, 0, 0, 0]  # the first token's position
    with pytest.raises(UnknownLayout):
        cut(block, 3)


def test_tokens_may_be_in_any_stream():
    block = saved(PLAIN, 3)
    moved = np.concatenate([block[:12], np.zeros(8, np.uint8), block[12:-8]])
    assert np.array_equal(cut(moved, 3).keys, cut(block, 3).keys)

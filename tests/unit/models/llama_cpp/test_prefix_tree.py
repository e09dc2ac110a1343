from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.models.llama_cpp.kv_cells import Cells, Layout
from engine.models.llama_cpp.prefix_tree import PrefixTree, common

LAYOUT = Layout(b"magicseq", 1, 1, 1, 1, 1, 1, 0)
PER_TOKEN = 2  # bytes of a token's cells below

runs = st.lists(st.integers(0, 2), min_size=1, max_size=8).map(lambda tokens: np.array(tokens, np.int32))


def cells_of(tokens: np.ndarray) -> Cells:
    """Cells that hold the tokens themselves, so that they can be recognised."""
    column = tokens.astype(np.uint8).reshape(1, -1, 1)
    return Cells(column, column + 100, LAYOUT)


def known(tree: PrefixTree, tokens: np.ndarray) -> list[int]:
    """The tokens whose cells the tree has, read from the cells."""
    return [int(key) for part in tree.find(tokens).cells for key in part.keys.ravel()]


def run(*tokens: int) -> np.ndarray:
    return np.array(tokens, np.int32)


@given(st.lists(runs, max_size=8), runs)
def test_the_longest_known_beginning_is_found(kept, asked):
    tree = PrefixTree(10**9)
    for tokens in kept:
        tree.keep(tokens, cells_of(tokens))
    longest = max((common(tokens, asked) for tokens in kept), default=0)
    assert known(tree, asked) == asked[:longest].tolist()
    assert tree.find(asked).ready == longest


@given(st.lists(runs, max_size=8))
def test_shared_beginnings_take_memory_once(kept):
    tree = PrefixTree(10**9)
    for tokens in kept:
        tree.keep(tokens, cells_of(tokens))
    beginnings = {tuple(tokens[:n].tolist()) for tokens in kept for n in range(1, len(tokens) + 1)}
    assert tree.bytes == PER_TOKEN * len(beginnings)


@given(st.lists(st.tuples(runs, st.booleans()), max_size=8), st.integers(0, 20))
def test_the_budget_holds_and_what_is_left_is_right(kept, budget):
    tree = PrefixTree(budget)
    for tokens, promised in kept:
        promise = tree.promise(tokens)
        if not promised:
            tree.keep(tokens, cells_of(tokens))
            tree.take_back(promise)
        assert tree.bytes <= budget
        found = known(tree, tokens)
        assert found == tokens[: len(found)].tolist()


def test_the_end_used_longest_ago_goes_first():
    tree = PrefixTree(8 * PER_TOKEN)
    for tokens in (run(1, 2, 3), run(1, 2, 4), run(1, 2, 5)):
        tree.keep(tokens, cells_of(tokens))
    tree.find(run(1, 2, 3))
    tree.keep(run(9, 9, 9, 9), cells_of(run(9, 9, 9, 9)))
    assert known(tree, run(1, 2, 3)) == [1, 2, 3]
    assert known(tree, run(1, 2, 4)) == [1, 2]


def test_a_promise_is_seen_until_it_is_kept_or_taken_back():
    tree = PrefixTree(10**9)
    tree.keep(run(1, 2), cells_of(run(1, 2)))
    promise = tree.promise(run(1, 2, 3, 4))
    found = tree.find(run(1, 2, 3, 5))
    assert (found.ready, found.promised, found.promise) == (2, 1, promise)
    tree.take_back(promise)
    found = tree.find(run(1, 2, 3, 5))
    assert (found.ready, found.promised, found.promise) == (2, 0, None)


def test_a_kept_promise_is_known_to_those_who_branched_off():
    tree = PrefixTree(10**9)
    first, second = tree.promise(run(1, 2, 3, 4)), tree.promise(run(1, 2, 5, 6))
    tree.keep(run(1, 2, 3, 4), cells_of(run(1, 2, 3, 4)))
    tree.take_back(first)
    found = tree.find(run(1, 2, 5, 6))
    assert (found.ready, found.promised, found.promise) == (2, 2, second)
    tree.keep(run(1, 2, 5, 6), cells_of(run(1, 2, 5, 6)))
    tree.take_back(second)
    assert known(tree, run(1, 2, 5, 6)) == [1, 2, 5, 6]

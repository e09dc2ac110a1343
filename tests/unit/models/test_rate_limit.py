"""The token bucket: over any minute, no more than the limit and one second's worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.rate_limit import Bucket
from tests.fakes.turns import Clock


def test_it_lets_through_what_it_holds_and_then_as_it_fills() -> None:
    clock = Clock()
    bucket = Bucket(120, clock)
    waits = []
    for _ in range(4):
        waits.append(bucket.wait(1))
        clock.now += waits[-1]
        bucket.take(1)
    assert waits == [0, 0, pytest.approx(0.5), pytest.approx(0.5)]


def test_a_slow_bucket_holds_one() -> None:
    clock = Clock()
    bucket = Bucket(6, clock)
    assert bucket.wait(1) == 0
    bucket.take(1)
    assert bucket.wait(1) == pytest.approx(10)
    clock.now = 1000
    bucket.take(1)
    assert bucket.wait(1) == pytest.approx(10), "time without use is not saved up"


def test_what_costs_more_than_it_holds_needs_a_full_one_and_empties_it_for_long() -> None:
    clock = Clock()
    bucket = Bucket(600, clock)
    bucket.take(5)
    assert bucket.wait(50) == pytest.approx(0.5)
    clock.now = 0.5
    assert bucket.wait(50) == 0
    bucket.take(50)
    assert bucket.wait(1) == pytest.approx(4.1)


def test_a_cost_can_be_corrected_both_ways() -> None:
    bucket = Bucket(600, Clock())
    bucket.take(10)
    bucket.give_back(4)
    assert bucket.wait(4) == 0
    bucket.give_back(-4)
    assert bucket.wait(4) == pytest.approx(0.4)
    bucket.give_back(1e9)
    bucket.take(10)
    assert bucket.wait(1) > 0, "no more is given back than it holds"


@given(
    st.floats(1, 100_000),
    st.lists(st.tuples(st.floats(0, 5), st.floats(0.1, 30)), min_size=1, max_size=60),
)
def test_no_minute_has_more_than_the_limit(limit: float, demands: list[tuple[float, float]]) -> None:
    clock = Clock()
    bucket = Bucket(limit, clock)
    passed: list[tuple[float, float]] = []
    for pause, cost in demands:
        clock.now += pause
        clock.now += bucket.wait(cost)
        assert bucket.wait(cost) < 1e-6
        bucket.take(cost)
        passed.append((clock.now, cost))
    most = limit + max(1.0, limit / 60) + max(cost for _, cost in passed)
    for start, _ in passed:
        assert sum(cost for at, cost in passed if start <= at < start + 60) <= most + 1e-6

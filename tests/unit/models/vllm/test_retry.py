from datetime import UTC, datetime
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.vllm.retry import MAX_RETRY_AFTER_S, MAX_WAIT_S, Budget, retry_after_s, wait_s

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def test_waits_double_up_to_a_bound_and_are_spread():
    rng = Random(1)
    means = [sum(wait_s(tries, rng) for _ in range(500)) / 500 for tries in range(1, 12)]
    assert all(1.6 < later / earlier < 2.4 for earlier, later in pairwise(means[:5]))
    assert max(means) < 0.6 * MAX_WAIT_S
    assert wait_s(10**6, rng) <= MAX_WAIT_S


def test_retries_beyond_the_budget_wait_for_the_trickle():
    budget = Budget(earned=0.2, most=10, trickle_per_s=5)
    waits = [budget.spend(0.0) for _ in range(20)]
    assert waits[:10] == [0.0] * 10
    assert waits[10:] == pytest.approx([n / 5 for n in range(1, 11)])
    assert budget.spend(100.0) == 0.0


def test_replies_earn_retries_up_to_a_bound():
    budget = Budget(earned=0.5, most=10, trickle_per_s=1)
    for _ in range(10):
        budget.spend(0.0)
    budget.earn(4)
    assert [budget.spend(0.0) for _ in range(3)] == [0.0, 0.0, 1.0]
    budget.earn(1000)
    assert [budget.spend(0.0) for _ in range(11)][-1] == 1.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2.0),
        (" 0.5 ", 0.5),
        ("Tue, 01 Jan 2030 12:00:30 GMT", 30.0),
        ("Tue, 01 Jan 2030 11:00:00 GMT", 0.0),
        ("99999999999", MAX_RETRY_AFTER_S),
        ("9" * 400, MAX_RETRY_AFTER_S),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_RETRY_AFTER_S),
        ("-1", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after(header, seconds):
    assert retry_after_s(header, NOON) == seconds


@given(st.text())
def test_no_header_is_too_odd(header):
    found = retry_after_s(header, NOON)
    assert found is None or 0 <= found <= MAX_RETRY_AFTER_S

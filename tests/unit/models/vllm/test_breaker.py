from itertools import pairwise
from random import Random

import pytest

from engine.models.vllm.breaker import MAX_FAILURES, MAX_WAIT_S, Breaker, State


@pytest.fixture
def breaker() -> Breaker:
    return Breaker(Random(1))


def sicken(breaker: Breaker, now: float = 0.0) -> None:
    breaker.open(now, "down")


def test_failures_in_a_row_make_a_server_sick_and_replies_between_them_do_not(breaker):
    for _ in range(10):
        for _ in range(MAX_FAILURES - 1):
            assert not breaker.failed(0.0, breaker.era, "500")
        breaker.succeeded(breaker.era)
    assert breaker.state is State.CLOSED
    told = [breaker.failed(0.0, breaker.era, "500") for _ in range(MAX_FAILURES)]
    assert told == [False] * (MAX_FAILURES - 1) + [True]
    assert (breaker.state, breaker.reason) == (State.OPEN, "500")


def test_what_was_sent_before_a_change_says_nothing_after_it(breaker):
    before = breaker.era
    sicken(breaker)
    assert not breaker.failed(1.0, before, "late")
    assert not breaker.succeeded(before)
    breaker.try_again()
    assert not breaker.succeeded(before)
    assert breaker.state is State.TRIAL
    assert breaker.reason == "down"


def test_one_reply_on_trial_heals_and_one_failure_does_not(breaker):
    sicken(breaker)
    breaker.try_again()
    assert breaker.failed(1.0, breaker.era, "again")
    assert breaker.state is State.OPEN
    breaker.try_again()
    assert breaker.succeeded(breaker.era)
    assert breaker.state is State.CLOSED


def test_a_sick_server_is_left_alone_for_ever_longer_up_to_a_bound(breaker):
    waits = []
    now = 0.0
    for _ in range(12):
        sicken(breaker, now)
        wait = next(step / 10 for step in range(10_000) if breaker.is_due(now + step / 10))
        waits.append(wait)
        now += wait
    assert waits[0] < 1
    assert all(later > earlier for earlier, later in pairwise(waits[:6]))
    assert 0.7 * MAX_WAIT_S < waits[-1] < 1.3 * MAX_WAIT_S
    breaker.try_again()
    breaker.succeeded(breaker.era)
    sicken(breaker, now)
    assert breaker.is_due(now + 1)  # health forgives


def test_a_healthy_server_is_never_due(breaker):
    assert not breaker.is_due(1e9)

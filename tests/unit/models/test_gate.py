"""The gate before a backend: rate limits and allowances, with the test's clock and a backend that waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from engine.models.answers import Text
from engine.models.gate import TICK_S, Gate
from engine.models.protocol import Catalogue, Deliver, Request, Result, Sampling
from engine.models.settings import Dummy
from tests.fakes.model_calls import calls, user
from tests.fakes.turns import Clock

LONGEST = 100
PROMPT = user("x" * 200)


class Waits:
    """A backend that answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.deliver: Deliver = lambda _: None
        self.at_once = False

    async def open(self) -> dict[str, Any]:
        return {}

    async def close(self) -> None:
        pass

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        self.asked += requests
        self.deliver = deliver
        if self.at_once:
            self.answer(len(requests))

    def answer(self, n: int, tokens_in: int = 50, tokens_out: int = 10, **more: Any) -> None:
        done, self.asked = self.asked[:n], self.asked[n:]
        self.deliver([Result(r.key, "hi", tokens_in=tokens_in, tokens_out=tokens_out, **more) for r in done])


class Bench:
    """A gate with a clock, and the timers that it has set."""

    def __init__(self, *, budgeted: bool = False, **settings: Any) -> None:
        self.clock = Clock()
        self.catalogue = Catalogue()
        self.backend = Waits()
        self.results: list[Result] = []
        self.alarms: list[tuple[float, Callable[[], Any]]] = []
        self.gate = Gate(
            self.backend,
            self.catalogue,
            Dummy(**settings),
            budgeted=budgeted,
            clock=self.clock,
            call_later=lambda delay, call: self.alarms.append((self.clock.now + delay, call)),
        )

    def submit(self, n: int) -> None:
        sampling = Sampling(max_tokens=LONGEST)
        self.gate.submit(calls(self.catalogue, Text(), [PROMPT] * n, sampling=sampling), self.results.extend)

    def until(self, now: float) -> int:
        """Let time pass; return how many requests are with the backend."""
        while self.alarms and min(self.alarms)[0] <= now:
            self.alarms.sort(key=lambda alarm: alarm[0])
            self.clock.now, call = self.alarms.pop(0)
            call()
        self.clock.now = now
        return len(self.backend.asked)


def test_without_limits_everything_goes_through_in_one_batch() -> None:
    bench = Bench()
    bench.submit(1000)
    assert len(bench.backend.asked) == 1000
    bench.backend.answer(1000)
    assert len(bench.results) == 1000
    assert bench.gate.spent.calls == 1000
    assert bench.alarms == []


def test_requests_a_minute() -> None:
    bench = Bench(requests_per_minute=60)
    bench.submit(100)
    assert [bench.until(second) for second in (0, 0.9, 1.1, 10.1, 60.1)] == [1, 1, 2, 11, 61]


def test_requests_that_were_sent_again_count_as_well() -> None:
    bench = Bench(requests_per_minute=60)
    bench.submit(100)
    bench.backend.answer(1, resent=5)
    assert [bench.until(second) for second in (1.1, 5.9, 6.1, 60.1)] == [0, 0, 1, 55]
    bench.backend.answer(40, resent=2, samples=40)
    assert [bench.until(second) for second in (60.9, 62.9, 63.1)] == [15, 15, 16]


def test_a_high_rate_needs_few_looks() -> None:
    bench = Bench(requests_per_minute=60_000)
    bench.submit(3000)
    assert bench.until(0) == 1000
    looks = len(bench.alarms)
    assert bench.until(1.01) in range(1990, 2021)
    assert looks == 1
    assert bench.alarms[0][0] - bench.clock.now <= TICK_S + 1e-9


def test_tokens_a_minute_are_estimated_first_and_corrected_later() -> None:
    bench = Bench(tokens_per_minute=12_000)  # 200 a second
    bench.submit(100)
    first = bench.until(0)
    assert first == 1, "about 100 of the prompt and 100 of the longest reply fill the bucket"
    bench.backend.answer(1, tokens_in=40, tokens_out=10)
    assert len(bench.backend.asked) == 3, "at 50 tokens each, 150 were left for three"


def test_in_the_long_run_no_more_tokens_go_through_than_allowed() -> None:
    bench = Bench(tokens_per_minute=6_000)
    bench.submit(2000)
    n = 0
    for tenth in range(1, 1201):  # two minutes, each reply after a tenth of a second
        waiting = bench.until(tenth / 10)
        bench.backend.answer(waiting, tokens_in=50, tokens_out=10)
        n += waiting
    assert n == pytest.approx(200, abs=4), "12,000 tokens at 60 a request"


def test_waiting_at_the_gate_is_waiting_in_a_queue() -> None:
    bench = Bench(requests_per_minute=60)
    bench.submit(3)
    bench.until(2.5)
    bench.backend.answer(3)
    assert [result.queued_s for result in bench.results] == [0, pytest.approx(1), pytest.approx(2)]


def test_a_backend_that_answers_at_once_is_no_deep_recursion() -> None:
    bench = Bench(budgeted=True)
    bench.backend.at_once = True
    bench.gate.allow(200_000, 1.0)
    bench.submit(3000)
    assert len(bench.results) == 3000


# allowances


def test_nothing_goes_through_before_it_is_allowed() -> None:
    bench = Bench(budgeted=True)
    bench.submit(2)
    assert bench.backend.asked == []
    assert bench.gate.n_held == 2
    bench.gate.allow(1000, 0.0)
    assert len(bench.backend.asked) == 2
    assert bench.gate.n_held == 0


@pytest.mark.parametrize("allowed", [0, 250, 1000, 5000])
@pytest.mark.parametrize("each", [(50, LONGEST), (50, 1), (80, 30)])
def test_an_allowance_of_tokens_is_never_exceeded_and_nearly_used_up(
    allowed: int, each: tuple[int, int]
) -> None:
    bench = Bench(budgeted=True)
    bench.submit(500)
    bench.gate.allow(allowed, 0.0)
    while bench.backend.asked:
        bench.backend.answer(1, *each)
    used = bench.gate.spent.tokens_in + bench.gate.spent.tokens_out
    assert used <= allowed
    assert allowed - used < 125 * 1.25 + LONGEST, "less than a prompt and the longest reply"
    assert bench.gate.n_held == 500 - len(bench.results)


def test_what_is_under_way_counts_with_the_longest_reply_it_may_get() -> None:
    bench = Bench(budgeted=True)
    bench.submit(100)
    bench.gate.allow(1000, 0.0)
    assert len(bench.backend.asked) == 4, "about 130 of the prompt with the margin, and 100 of a reply"


def test_an_allowance_of_money() -> None:
    bench = Bench(budgeted=True, price_in=10, price_out=100)
    bench.submit(500)
    bench.gate.allow(float("inf"), 0.1)
    while bench.backend.asked:
        bench.backend.answer(len(bench.backend.asked), 50, 10)
    n = len(bench.results)
    assert 0.1 - 0.0115 < n * (50 * 10 + 10 * 100) / 1e6 <= 0.1


def test_a_larger_allowance_lets_more_through() -> None:
    bench = Bench(budgeted=True)
    bench.submit(100)
    bench.gate.allow(300, 0.0)
    bench.backend.answer(1)
    held = bench.gate.n_held
    bench.gate.allow(600, 0.0)
    assert 0 < bench.gate.n_held < held

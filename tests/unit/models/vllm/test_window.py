"""The window against simulated servers: it has to find what each can take, and stay there."""

from __future__ import annotations

import heapq
from itertools import count
from random import Random

import pytest

from engine.models.vllm.window import START, Window


class Simulated:
    """A server of so many slots, a queue of at most so many more, and a client that always has work."""

    def __init__(self, window: Window, *, slots: int, queue: float = float("inf"), tells: float = 0) -> None:
        self.window = window
        self.slots, self.queue, self.tells = slots, queue, tells
        self.rng = Random(5)
        self.now = 0.0
        self.events: list[tuple[float, int, str, float]] = []
        self.tie = count()
        self.running = 0
        self.waiting: list[float] = []
        self.answered = self.refused = 0
        self.busy_s = 0.0
        self.peak = 0
        window.tells_queue = bool(tells)
        if tells:
            self.at(tells, "tell")

    @property
    def in_flight(self) -> int:
        return self.running + len(self.waiting)

    def at(self, delay: float, what: str, sent: float = 0.0) -> None:
        heapq.heappush(self.events, (self.now + delay, next(self.tie), what, sent))

    def start(self, sent: float) -> None:
        self.running += 1
        self.at(self.rng.uniform(0.5, 1.5), "answer", sent)

    def fill(self) -> None:
        while self.window.room(self.now, self.in_flight) > 0:
            if self.running < self.slots:
                self.start(self.now)
            elif len(self.waiting) < self.queue:
                self.waiting.append(self.now)
            else:
                self.refused += 1
                self.window.overloaded(self.now, self.now)
        self.peak = max(self.peak, self.in_flight)

    def run(self, seconds: float) -> float:
        """Return how full the slots were."""
        end, busy_s = self.now + seconds, self.busy_s
        self.fill()
        while self.now < end:
            if not self.events:
                self.now += 0.1
            else:
                then, _, what, sent = heapq.heappop(self.events)
                self.busy_s += self.running * (then - self.now)
                self.now = then
                self.happen(what, sent)
            self.fill()
        return (self.busy_s - busy_s) / seconds / self.slots

    def happen(self, what: str, sent: float) -> None:
        if what == "tell":
            self.window.queued(self.now, self.running, len(self.waiting))
            self.at(self.tells, "tell")
            return
        full = self.in_flight >= 0.8 * self.window.limit
        self.running -= 1
        self.answered += 1
        if self.waiting:
            self.start(self.waiting.pop(0))
        self.window.answered(self.now, sent, full=full)


def window(most: int = 4096, late_s: float = 100.0) -> Window:
    return Window(most, late_s, Random(1))


@pytest.mark.parametrize("slots", [1, 4, 64, 400])
def test_a_server_that_tells_its_queue_is_kept_full_without_a_long_queue(slots):
    server = Simulated(window(), slots=slots, tells=1.0)
    server.run(30)
    server.peak = 0
    assert server.run(60) > 0.97
    assert server.peak < 2 * slots + 2 * START


@pytest.mark.parametrize("slots", [16, 64, 300])
def test_a_server_that_tells_nothing_is_kept_full_without_an_endless_queue(slots):
    server = Simulated(window(), slots=slots)
    server.run(60)
    server.peak = 0
    assert server.run(60) > 0.93
    assert server.peak < 5 * slots + 2 * START


def test_replies_are_never_so_late_that_they_are_given_up():
    server = Simulated(window(late_s=20), slots=1)
    assert server.run(300) > 0.99
    assert server.peak < 60


@pytest.mark.parametrize("slots", [4, 64, 200])
def test_a_server_that_turns_requests_away_is_asked_for_what_it_takes(slots):
    server = Simulated(window(), slots=slots, queue=slots // 4 + 1)
    server.run(60)
    server.refused = 0
    answered = server.answered
    assert server.run(60) > 0.95
    assert server.refused < 0.1 * (server.answered - answered)


def test_one_cut_for_all_that_was_sent_before_it():
    one = window()
    one.limit = 100.0
    one.overloaded(10.0, sent=9.0)
    one.overloaded(10.1, sent=9.5)
    assert one.limit == pytest.approx(70)
    one.overloaded(10.2, sent=10.1)
    assert one.limit == pytest.approx(49)


def test_retry_after_is_waited_for_and_refusals_in_a_row_for_ever_longer():
    one = window()
    one.overloaded(10.0, sent=9.0, retry_after_s=3.0)
    assert one.room(12.9, 0) == 0
    assert one.room(13.1, 0) > 0
    pauses = []
    for _ in range(200):
        now = one.resume_at + 0.001
        one.overloaded(now, sent=now)
        pauses.append(one.resume_at - now)
    assert max(pauses) <= 10
    assert sum(pauses[-50:]) / 50 > 3
    assert one.limit == 1
    assert one.room(now + 10, 0) == 1


def test_replies_much_later_than_others_tell_of_a_queue():
    one = window(late_s=50)
    one.answered(10.0, sent=0.0, full=True)
    limit = one.limit
    one.answered(70.0, sent=10.0, full=True)
    assert one.limit == pytest.approx(0.7 * limit)


def test_a_window_that_is_not_used_does_not_grow():
    one = window()
    for n in range(100):
        one.answered(n + 1.0, sent=float(n), full=False)
    assert one.limit == START


def test_most_is_never_passed():
    one = window(most=20)
    for n in range(1000):
        one.answered(n + 1.0, sent=n + 0.5, full=True, count=7)
        assert one.limit <= 20
    assert Window(3, 100.0, Random(1)).limit == 3

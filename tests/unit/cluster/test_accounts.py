"""The sums of a run, and estimates of its end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cluster.accounts import Accounts
from engine.cluster.eta import WINDOW_S, Pace
from engine.cluster.stopwatch import Phase, Stopwatch
from engine.cluster.wire import Work
from tests.fakes.turns import Clock


class Books:
    """Accounts of two workers, with the test's clock and journal."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.journal_s = 0.0
        self.accounts = Accounts(2, self.clock, lambda: self.journal_s)


def test_a_round_costs_what_was_spent_since_the_last() -> None:
    books = Books()
    for worker in ("worker-0", "worker-1"):
        books.accounts.note(worker, Work(cpu_s=5, model_s=1, agents_s=2, messages_s=1, n_done=10))
    books.clock.now = 4.0
    books.accounts.close_round()
    books.accounts.note("worker-0", Work(cpu_s=7, model_s=3, agents_s=3, messages_s=1.5, n_done=20))
    books.accounts.note("model", Work(cpu_s=1.5))
    books.clock.now, books.journal_s = 9.0, 0.25
    seconds, cpu_s, split = books.accounts.close_round()
    assert seconds == 5.0
    assert cpu_s == pytest.approx(3.5, abs=0.2), "and what this process has used meanwhile"
    assert (split.model_s, split.agents_s, split.messages_s, split.journal_s) == (1.0, 0.5, 0.25, 0.25)
    assert split.model_s + split.agents_s + split.messages_s + split.idle_s == seconds


def test_what_goes_before_the_first_round_is_no_rounds_cost() -> None:
    books = Books()
    books.accounts.note("worker-0", Work(cpu_s=30, model_s=30))
    books.clock.now = 30.0
    books.accounts.restart_round()
    books.clock.now = 31.0
    seconds, cpu_s, split = books.accounts.close_round()
    assert seconds == 1.0
    assert cpu_s < 1
    assert split.model_s == 0
    assert split.idle_s == 1.0


def test_reports_are_sums_so_the_latest_counts() -> None:
    books = Books()
    for n in (1, 5, 3):
        books.accounts.note("worker-0", Work(n_done=n, n_open=n, failures={"unparsed": n}))
    books.accounts.note("worker-1", Work(n_done=10, n_open=1, failures={"unparsed": 1, "exception": 2}))
    books.accounts.note("model-default", Work(n_open=99))
    assert books.accounts.n_done == 13
    assert books.accounts.n_open == 4, "as the workers see it"
    assert books.accounts.failures == {"unparsed": 4, "exception": 2}


def test_only_failures_of_agents_stop_agents() -> None:
    books = Books()
    failures = {"unparsed": 100, "timed out": 7, "exception": 1, "deadline": 2, "wrong value": 3}
    books.accounts.note("worker-0", Work(failures=failures))
    assert books.accounts.n_stopped == 6


# the clock of a process


def test_phases_add_up() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    for phase, seconds in ((Phase.AGENTS, 1.0), (Phase.MODEL, 2.0), (Phase.AGENTS, 4.0)):
        watch.enter(phase)
        clock.now += seconds
    watch.enter(Phase.IDLE)
    assert watch.spent == [2.0, 5.0, 0.0, 0.0]
    clock.now += 8
    watch.enter(Phase.MESSAGES)
    assert watch.spent[Phase.IDLE] == 8


# estimates


def test_no_estimate_without_turns() -> None:
    pace = Pace(1000, 100)
    assert pace.eta() == (None, "too few turns so far")
    pace.note(0.0, 0)
    pace.note(5.0, 0)
    assert pace.rate == 0
    assert pace.eta()[0] is None
    Pace(1000, 1000).note(0.0, 0)


def test_no_estimate_from_the_very_first_turns() -> None:
    pace = Pace(500, 100)
    pace.restart(0.0, 0)
    pace.note(20.0, 24)
    assert pace.eta()[0] is None
    pace.note(21.0, 25)
    assert pace.eta() == (pytest.approx(475 * 21 / 25), "at the pace of the last 21 s")


def test_many_turns_over_a_while_are_enough_for_a_large_population() -> None:
    pace = Pace(5_000_000, 1_000_000)
    pace.restart(0.0, 0)
    pace.note(1.0, 2000)
    assert pace.eta()[0] is None
    pace.note(40.0, 4000)
    assert pace.eta()[0] == pytest.approx(4_996_000 / 100)


def test_what_was_before_a_restart_is_no_basis() -> None:
    pace = Pace(1000, 100)
    for second in range(3600):
        pace.note(float(second), 90)
    pace.restart(3600.0, 90)
    assert (pace.rate, pace.eta()[0]) == (0, None)
    pace.note(3610.0, 190)
    assert pace.eta()[0] == pytest.approx(81)


def test_before_its_own_turns_tell_a_round_goes_by_the_one_before() -> None:
    pace = Pace(500, 100)
    pace.restart(0.0, 0)
    pace.note(60.0, 100)
    assert pace.eta() == (pytest.approx(240), "at the last round's pace")
    pace.note(90.0, 174)
    assert pace.eta()[0] == pytest.approx(210), "the time that it took so far is over"
    pace.note(90.0, 175)
    assert pace.eta() == (pytest.approx(325 * 30 / 75), "at the pace of the last 30 s")
    pace = Pace(500, 100)
    pace.restart(0.0, 0)
    pace.note(60.0, 100)
    pace.note(900.0, 101)
    assert pace.eta()[0] == pytest.approx(180), "three rounds are still to come"
    pace.note(960.0, 200)
    assert pace.eta()[0] == pytest.approx(300 * 9), "and they may be as slow"


def test_an_estimate_and_its_basis() -> None:
    pace = Pace(1000, 100)
    for second in range(11):
        pace.note(float(second), 9 * second)
    assert pace.rate == pytest.approx(9)
    assert pace.eta() == (pytest.approx(910 / 9), "at the pace of the last 10 s")


def test_the_rate_is_that_of_the_last_seconds() -> None:
    pace = Pace(100_000, 1000)
    for second in range(100):
        pace.note(float(second), 1000 * second if second < 50 else 50_000 + second)
    assert pace.rate == pytest.approx(1, rel=0.1)
    span = pace._points[-1][0] - pace._points[0][0]
    assert WINDOW_S <= span <= WINDOW_S + 1


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(0, 50)), max_size=50))
def test_estimates_are_never_negative(steps: list[tuple[float, int]]) -> None:
    pace, now, n_done = Pace(10_000, 100), 0.0, 0
    for seconds, turns in steps:
        now, n_done = now + seconds, n_done + turns
        pace.note(now, n_done)
        assert pace.rate >= 0
        eta, _ = pace.eta()
        assert eta is None or eta >= 0

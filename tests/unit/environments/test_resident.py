"""One environment: its calls are kept, carried out again, and what goes wrong is said."""

from typing import Any

import msgspec
import pytest

from engine.agents.divergence import Beyond, Diverged
from engine.agents.scheduler import DeadlineExceeded, Scheduler
from engine.environments.environment import Environment
from engine.environments.history import Past, read
from engine.environments.resident import Resident
from engine.errors import SimtuiError
from engine.keys import pack
from tests.fakes.turns import Clock


class Till(Environment):
    def setup(self) -> None:
        self.n = 0

    def pay(self, amount: int) -> list[int]:
        self.n += amount
        return [self.n, self.caller]

    def fail(self) -> None:
        raise LookupError("no change")

    def hang(self) -> None:
        raise DeadlineExceeded("computed for more than 5 s without a break")

    def end_round(self) -> dict[str, Any]:
        return {"n": 1 // self.n}


class Record:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failures: list[tuple[str, str]] = []

    def called(self, place: tuple[int, str, int, int], first: int, call: Any) -> None:
        self.calls.append((place, first, call))

    def failure(self, key: int, kind: str, detail: str, action: str, traceback: str | None = None) -> None:
        self.failures.append((kind, detail))

    def text(self) -> str:
        """What the journal would hold."""
        return msgspec.json.encode([call for _, _, call in self.calls]).decode()


class Desk:
    def __init__(self, beyond: Beyond = Beyond.ASK, past: list[Past] | None = None) -> None:
        till = Till()
        till.enter(number=9, name="till", group=0, members=range(9), settings=None, seed=1, host=self)  # type: ignore[arg-type]
        self.till = till
        self.record = Record()
        self.scheduler = Scheduler(clock=Clock(), deadline_s=5, wake=lambda: None)
        self.resident = Resident(till, self.scheduler, self.record, beyond)  # type: ignore[arg-type]
        self.resident.open_round(past or [])

    def call(self, agent: int, name: str, *args: Any) -> tuple[Any, str | None]:
        method = self.resident.methods[name]
        return self.resident.result(pack(1, agent), agent, method, *method.arguments(args))


def played() -> Desk:
    desk = Desk()
    assert desk.call(4, "pay", 3) == ([3, 4], None)
    assert desk.call(2, "fail") == (None, "till.fail: LookupError: no change")
    assert desk.call(1, "pay", 5) == ([8, 1], None)
    return desk


def test_calls_are_kept_in_order_whatever_came_of_them() -> None:
    kept = played().record.calls
    assert [place for place, _, _ in kept] == [(9, "till", 0, 1)] * 3
    assert [first for _, first, _ in kept] == [0, 1, 2]
    past = read(played().record.text())
    assert [(entry.key, entry.method, bytes(entry.value)) for entry in past] == [
        (pack(1, 4), "pay", b"[3,4]"),
        (pack(1, 2), "fail", b"null"),
        (pack(1, 1), "pay", b"[8,1]"),
    ]


def test_a_repeated_round_is_as_it_was_whoever_comes_first() -> None:
    desk = Desk(past=read(played().record.text()))
    assert desk.till.n == 8
    assert desk.call(1, "pay", 5) == ([8, 1], None)
    assert desk.call(2, "fail") == (None, "till.fail: LookupError: no change")
    assert desk.call(4, "pay", 3) == ([3, 4], None)
    assert desk.record.calls == []
    assert desk.call(7, "pay", 1) == ([9, 7], None)
    assert [first for _, first, _ in desk.record.calls] == [3]


def test_a_replay_writes_them_all_again() -> None:
    past = read(played().record.text())
    desk = Desk(Beyond.REPORT, past)
    assert read(desk.record.text()) == past
    assert desk.record.failures == []


@pytest.mark.parametrize(("name", "args"), [("pay", (6,)), ("fail", ())])
def test_another_call_than_then_is_told(name: str, args: tuple[Any, ...]) -> None:
    past = read(played().record.text())
    desk = Desk(past=past)
    desk.call(1, name, *args)
    assert isinstance(desk.scheduler.fatal, Diverged)
    replayed = Desk(Beyond.REPORT, past)
    replayed.call(1, name, *args)
    assert replayed.record.failures == [("diverged", "a call of an environment")]


def test_another_result_than_then_is_told() -> None:
    past = read(played().record.text().replace("[3,4]", "[2,4]"))
    assert isinstance(Desk(past=past).scheduler.fatal, Diverged)


def test_a_method_that_is_gone_is_told() -> None:
    past = read(played().record.text().replace('"fail"', '"absent"'))
    with pytest.raises(Diverged):
        Desk(past=past)


def test_a_method_that_hangs_ends_the_run_and_is_named() -> None:
    desk = Desk()
    desk.call(3, "hang")
    assert isinstance(desk.scheduler.fatal, SimtuiError)
    assert "till.hang, round 1, called by 3" in str(desk.scheduler.fatal)


def test_a_round_that_cannot_be_ended_names_the_environment() -> None:
    with pytest.raises(SimtuiError, match="ZeroDivisionError") as caught:
        Desk().resident.end_round({})
    assert "till, at the end of round 1" in str(caught.value)

"""What a budget allows each model service, and when it has run out."""

from typing import Any

import pytest

from engine.cluster.budget import BudgetWatch
from engine.cluster.control import Usage
from engine.cluster.wire import Allow, Work
from engine.models.settings import Dummy
from engine.models.spent import Spent
from engine.preset.schema import Budget

PRICED = Dummy(price_in=1, price_out=1, currency="EUR")
INF = float("inf")


def watch(*past: Usage, models: Any = None, **budget: Any) -> BudgetWatch:
    return BudgetWatch(Budget(**budget), models or {"default": PRICED}, past)


def service(tokens: int = 0, *, held: int = 0, n_open: int | None = None) -> Work:
    return Work(
        spent=[("default", 0, Spent(1, tokens, 0))], n_held=held, n_open=held if n_open is None else n_open
    )


def test_without_a_budget_nobody_is_told_anything_and_nothing_runs_out() -> None:
    free = watch()
    assert free.note_service("default", service()) == {}
    free.note_worker("worker-0", Work(n_open=5))
    assert free.exhausted(1e9, {"unparsed": 10**9}) is None


def test_one_service_may_use_all_and_is_told_once() -> None:
    one = watch(Usage("default", "", 1, 60, 40, 0, 0.25, "EUR"), tokens=1000, money=2.0)
    assert one.note_service("default", service()) == {"default": Allow(900, 1.75)}
    assert one.note_service("default", service(500)) == {}


def test_several_share_what_is_left_anew_each_time() -> None:
    two = watch(models={"default": PRICED, "other": Dummy()}, tokens=1000)
    assert two.note_service("default", service()) == {"default": Allow(500, INF)}, (
        "the other is not there yet"
    )
    assert two.note_service("other", service()) == {"other": Allow(500, INF)}
    assert two.note_service("default", service(400)) == {"default": Allow(700, INF), "other": Allow(300, INF)}
    used = 400
    for _ in range(20):
        used += int((1000 - used) / 2)
        two.note_service("default", service(used))
    assert 1000 - used <= 2, "one that is alone in using it gets nearly all of it"


def test_a_service_that_is_replaced_has_used_what_it_has_used() -> None:
    one = watch(tokens=1000)
    one.note_service("default", service(400))
    one.forget("model-default")
    assert one.note_service("default", service()) == {"default": Allow(600, INF)}


@pytest.mark.parametrize(
    ("elapsed_s", "failures", "setting"),
    [
        (9.9, {}, None),
        (10.0, {}, "budget.wall_s"),
        (0, {"unparsed": 3, "repaired": 50}, None),
        (0, {"unparsed": 3, "exception": 1}, "budget.failures"),
    ],
)
def test_time_and_failures(elapsed_s: float, failures: dict[str, int], setting: str | None) -> None:
    over = watch(wall_s=10, failures=3).exhausted(elapsed_s, failures)
    assert (over and over.setting) == setting
    if over:
        assert f"--set {setting}=" in over.hint


@pytest.mark.parametrize(
    ("at_service", "at_worker"),
    [
        (service(900), Work()),  # nothing waits
        (service(900, held=3, n_open=4), Work(n_open=4)),  # one is under way
        (service(900, held=3), Work(n_open=4)),  # one is on its way to the service, or a reply back
        (service(900, held=3), Work(n_open=3, n_unsent=1)),  # a row is on its way to the journal
    ],
)
def test_tokens_have_not_run_out_while_anything_moves(at_service: Work, at_worker: Work) -> None:
    one = watch(tokens=1000)
    one.note_service("default", at_service)
    one.note_worker("worker-0", at_worker)
    assert one.exhausted(0, {}) is None


def test_tokens_have_run_out_when_all_that_is_open_is_held() -> None:
    one = watch(Usage("default", "", 1, 60, 20, 0), tokens=1000)
    one.note_service("default", service(820, held=5))
    one.note_worker("worker-0", Work(n_open=2))
    one.note_worker("worker-1", Work(n_open=3))
    over = one.exhausted(0, {})
    assert over is not None
    assert over.setting == "budget.tokens"
    assert over.what.startswith("900 of 1,000 tokens are used")


def test_the_budget_that_is_closer_to_its_end_is_named() -> None:
    one = watch(tokens=1_000_000_000, money=0.5)
    one.note_service("default", service(490_000, held=5))
    one.note_worker("worker-0", Work(n_open=5))
    over = one.exhausted(0, {})
    assert over is not None
    assert over.setting == "budget.money"
    assert over.what.startswith("0.49 of 0.5 EUR are used")

"""What the models of a run were used for, and what that costs."""

import pytest

from engine.cluster.bill import Bill
from engine.cluster.control import Usage
from engine.cluster.setup import Setup
from engine.models.protocol import Result
from engine.models.settings import Dummy
from engine.models.spent import Spent, cost
from engine.preset.schema import Population, Preset, Slice
from tests.fakes.trial import TrialSettings

PRICED = Dummy(price_in=2, price_out=10, price_cached=0.5, currency="EUR")


def bill(*past: Usage, begun: tuple[Usage, ...] = ()) -> Bill:
    preset = Preset(
        name="trial",
        scenario=TrialSettings(),
        population=Population(size=10),
        model=PRICED,
        models={"free": Dummy()},
        slices=(Slice(name="half", share=0.5, model="free"), Slice(name="rest", share=0.25)),
    )
    return Bill(Setup(preset, *[None] * 3), past, begun)  # type: ignore[arg-type]


def test_tokens_and_costs_are_told_by_model_and_slice() -> None:
    books = bill()
    books.note(
        "worker-0", [("default", 0, Spent(1, 1_000_000, 100_000, 500_000)), ("free", 1, Spent(3, 9, 6))]
    )
    books.note("worker-1", [("default", 0, Spent(1, 1_000_000, 100_000)), ("default", 2, Spent(1, 10, 1))])
    books.note("worker-1", [("default", 0, Spent(1, 1_000_000, 100_000)), ("default", 2, Spent(2, 20, 2))])
    assert books.total() == [
        Usage("default", "", 2, 2_000_000, 200_000, 500_000, pytest.approx(1.5 * 2 + 0.5 * 0.5 + 2), "EUR"),
        Usage("default", "rest", 2, 20, 2, 0, pytest.approx(60e-6), "EUR"),
        Usage("free", "half", 3, 9, 6, 0, None, ""),
    ]


def test_a_round_is_billed_for_what_is_new() -> None:
    books = bill(Usage("default", "", 5, 50, 5, 0))
    books.note("worker-0", [("default", 0, Spent(2, 20, 2, 10))])
    [first] = books.close_round()
    assert (first.calls, first.tokens_in, first.tokens_out, first.tokens_cached) == (2, 20, 2, 10)
    assert books.close_round() == []
    assert [used.calls for used in books.total()] == [7], "what was used before a resume is part of the total"


def test_the_round_in_which_a_run_was_stopped_is_billed_as_a_whole() -> None:
    books = bill(Usage("default", "", 5, 50, 5, 0), begun=(Usage("default", "", 2, 20, 2, 0),))
    books.note("worker-0", [("default", 0, Spent(3, 30, 3))])
    assert [(used.calls, used.tokens_in) for used in books.close_round()] == [(5, 50)]
    assert [used.calls for used in books.total()] == [10]


def test_a_worker_that_is_replaced_has_spent_what_it_has_spent() -> None:
    books = bill()
    books.note("worker-0", [("free", 1, Spent(4, 40, 4))])
    books.forget("worker-0")
    books.note("worker-0", [("free", 1, Spent(1, 10, 1))])
    assert [(used.calls, used.tokens_in) for used in books.total()] == [(5, 50)]


def test_a_model_that_the_preset_no_longer_has_keeps_its_tokens() -> None:
    assert bill(Usage("gone", "", 1, 10, 1, 0, 0.5, "USD")).total() == [Usage("gone", "", 1, 10, 1, 0)]


@pytest.mark.parametrize(
    ("settings", "money"),
    [
        (Dummy(), None),
        (Dummy(price_in=1), None),
        (Dummy(price_in=0, price_out=0), 0),
        (Dummy(price_in=1, price_out=2), pytest.approx(120e-6)),
        (Dummy(price_in=1, price_out=2, price_cached=0), pytest.approx(40e-6)),
    ],
)
def test_cached_tokens_cost_as_much_as_others_unless_they_have_a_price(
    settings: Dummy, money: object
) -> None:
    assert cost(settings, Spent(1, 100, 10, 80)) == money


def test_a_reply_from_the_answer_cache_was_paid_for_before() -> None:
    spent = Spent()
    spent.add(Result(1, "33", tokens_in=10, tokens_out=2, tokens_cached=8))
    spent.add(Result(2, "33", tokens_in=10, tokens_out=2, samples=0))
    assert spent == Spent(2, 10, 2, 8)

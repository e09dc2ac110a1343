"""Tokens and money as they are told."""

from app.usage import columns, cost, in_all
from engine.cluster.control import Usage

PLAIN = Usage("default", "", 10, 1000, 40, 250)
PRICED = Usage("paid", "thinkers", 5, 500, 4, 0, 0.25, "EUR")


def test_one_free_model_has_no_slice_cost_or_total() -> None:
    assert columns([PLAIN], 8.0) == {
        "model": ["default"],
        "calls": ["10"],
        "tokens in": ["1,000"],
        "cached": ["25 %"],
        "tokens out": ["40"],
        "out a second": ["5"],
    }


def test_several_have_a_total() -> None:
    told = columns([PLAIN, PRICED], 8.0)
    assert told["model"] == ["default", "paid", "all"]
    assert told["slice"] == ["", "thinkers", ""]
    assert told["calls"] == ["10", "5", "15"]
    assert told["tokens in"] == ["1,000", "500", "1,500"]
    assert told["cost"] == ["-", "0.25 EUR", "0.25 EUR"]


def test_a_run_without_seconds_has_no_rate() -> None:
    assert "out a second" not in columns([PLAIN], 0.0)


def test_currencies_are_not_added_up() -> None:
    dollars = Usage("other", "", 1, 1, 1, 0, 12.5, "USD")
    assert cost([PLAIN, PRICED, dollars, dollars]) == "0.25 EUR + 25 USD"
    assert cost([PLAIN]) == ""


def test_rounds_are_added_up_by_model_and_slice() -> None:
    assert in_all([PLAIN, PRICED, PLAIN, PRICED]) == [
        Usage("default", "", 20, 2000, 80, 500),
        Usage("paid", "thinkers", 10, 1000, 8, 0, 0.5, "EUR"),
    ]

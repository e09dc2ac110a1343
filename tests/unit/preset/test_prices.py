"""Prices that are not whole, and budgets of money that nothing can be counted against."""

from typing import Any

import pytest

from tests.fakes.presets import GOOD

LLAMA = GOOD.replace('"dummy"', '"llama_cpp"')
PRICES = "price_in = 1\nprice_out = 2\n"
BUDGET = "[budget]\nmoney = 5\n"
SLICE = '[[slices]]\nname = "some"\nshare = 0.5\nmodel = "other"\n'


@pytest.mark.parametrize(
    "text",
    [
        GOOD + BUDGET,
        LLAMA + PRICES + BUDGET,
        LLAMA + "price_in = 0\nprice_out = 0\n" + BUDGET,
        LLAMA + PRICES + "price_cached = 0.1\n",
        LLAMA + "[budget]\ntokens = 5\nwall_s = 0.5\nfailures = 0\n",
        LLAMA + PRICES + '[models.unused]\nbackend = "llama_cpp"\n' + BUDGET,
        LLAMA + PRICES + '[models.other]\nbackend = "dummy"\n' + BUDGET + SLICE,
    ],
)
def test_prices_and_budgets_that_agree(told: Any, text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize("key", ["price_in", "price_out"])
def test_half_a_price_is_told(told: Any, key: str) -> None:
    other = {"price_in": "price_out", "price_out": "price_in"}[key]
    [line] = told(GOOD + f"{key} = 1\n")
    assert f"model.{other}: is missing beside the other prices" in line


def test_a_price_for_cached_tokens_alone_is_none(told: Any) -> None:
    assert len(told(GOOD + "price_cached = 1\n")) == 2


def test_a_budget_of_money_needs_prices(told: Any) -> None:
    [line] = told(LLAMA + BUDGET)
    assert line.startswith("p.toml:9: budget.money: model has no prices, so what it costs is not known")
    [line] = told(LLAMA + PRICES + '[models.other]\nbackend = "llama_cpp"\n' + BUDGET + SLICE)
    assert "models.other has no prices" in line


def test_a_budget_of_money_needs_one_currency(told: Any) -> None:
    other = '[models.other]\nbackend = "dummy"\ncurrency = "EUR"\n' + PRICES
    assert told(LLAMA + PRICES + other + SLICE) == []
    [line] = told(LLAMA + PRICES + other + BUDGET + SLICE)
    assert 'models.other.currency: "EUR" cannot be added to the "USD" of model' in line


@pytest.mark.parametrize("line", ["tokens = 0", "money = 0", "wall_s = -1", "failures = -1", "tokens = 1.5"])
def test_impossible_budgets_are_told(told: Any, line: str) -> None:
    assert len(told(f"{GOOD}[budget]\n{line}\n")) == 1

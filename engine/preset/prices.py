"""Whether the prices of a preset's models are whole, and fit a budget of money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.models.settings import Dummy, ModelSettings, Policy
from engine.preset.problems import Problem
from engine.preset.schema import Budget
from engine.preset.wording import Path, path_text, show

Models = Sequence[tuple[Path, ModelSettings]]


def price_problems(models: Models, budget: Budget | None) -> Iterator[Problem]:
    """Yield what is wrong with the prices of these models."""
    for path, model in models:
        yield from _incomplete(path, model)
    if budget is not None and budget.money is not None:
        yield from _unpriced(models)
        yield from _currencies(models)


def _incomplete(path: Path, model: ModelSettings) -> Iterator[Problem]:
    given = {"price_in": model.price_in, "price_out": model.price_out, "price_cached": model.price_cached}
    if all(price is None for price in given.values()):
        return
    for key in ("price_in", "price_out"):
        if given[key] is None:
            yield Problem(
                path=(*path, key),
                what="is missing beside the other prices",
                allowed="a number of at least 0: the price of a million tokens",
            )


def _unpriced(models: Models) -> Iterator[Problem]:
    for path, model in models:
        if not isinstance(model, Dummy | Policy) and model.price_in is None and model.price_out is None:
            yield Problem(
                path=("budget", "money"),
                what=f"{path_text(path)} has no prices, so what it costs is not known",
                allowed=f"with {path_text(path)}.price_in and price_out, 0 for a model that costs nothing",
            )


def _currencies(models: Models) -> Iterator[Problem]:
    priced = [(path, model) for path, model in models if model.price_in is not None]
    for path, model in priced[1:]:
        first, first_model = priced[0]
        if model.currency != first_model.currency:
            yield Problem(
                path=(*path, "currency"),
                what=f"{show(model.currency)} cannot be added to the {show(first_model.currency)} of "
                f"{path_text(first)}",
                allowed="one currency for all models of a run with budget.money",
            )

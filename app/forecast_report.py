"""An estimate as a table, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.padding import Padding

from app import figures, rounds
from app.columns import table
from app.sanitise import clean
from app.usage import cost
from engine.cluster.control import Usage
from engine.forecast.draws import Figure
from engine.forecast.extrapolation import Forecast, Use
from engine.preset.schema import Preset

Row = tuple[str, str, str, str]


@dataclass(frozen=True)
class Estimate:
    """All that there is to say."""

    preset: Preset
    sample: Preset
    used: Sequence[Usage]
    """What the sample took."""
    forecast: Forecast
    assumptions: Sequence[str]


def print_estimate(console: Console, told: Estimate) -> None:
    """Print the table, how prompts grow, and what the estimate rests on."""
    size, n_rounds = told.preset.population.size, told.preset.scenario.rounds
    heading = f"{clean(told.preset.name, 200)}: {rounds.size(size, n_rounds)}"
    console.print(heading, style="bold", soft_wrap=True)
    names, *columns = zip(*_rows(told.forecast), strict=True)
    headings = ("estimate", "low", "high")
    cells = {heading: list(column) for heading, column in zip(headings, columns, strict=True)}
    console.print(table({"": list(names), **cells}))
    first, last = told.forecast.prompt_tokens[0], told.forecast.prompt_tokens[-1]
    if last:
        growth = f"{first:,.0f} in round 1, {last:,.0f} in round {n_rounds:,}"
        console.print(f"Tokens of a prompt: {growth}", soft_wrap=True)
    price = f", {spent}" if (spent := cost(told.used)) else ""
    console.print(f"The sample itself took {_tokens(told.used):,} tokens{price}", soft_wrap=True)
    console.print("Nine of ten samples like it would give figures between low and high. That holds if:")
    for line in told.assumptions:
        console.print(Padding(f"- {clean(line, 500)}", (0, 0, 0, 2)))


def as_json_of(told: Estimate) -> str:
    """Return the object of `--json`."""
    found = {
        "name": told.preset.name,
        "n_agents": told.preset.population.size,
        "n_rounds": told.preset.scenario.rounds,
        "seconds": asdict(told.forecast.seconds),
        **asdict(told.forecast.total),
        "models": {name: asdict(use) for name, use in told.forecast.models.items()},
        "prompt_tokens": told.forecast.prompt_tokens,
        "sample": {
            "n_agents": told.sample.population.size,
            "n_rounds": told.sample.scenario.rounds,
            "tokens": _tokens(told.used),
            "cost": cost(told.used) or None,
        },
        "assumptions": told.assumptions,
    }
    return json.dumps(found, allow_nan=False)


def _tokens(used: Sequence[Usage]) -> int:
    return sum(one.tokens_in + one.tokens_out for one in used)


def _rows(forecast: Forecast) -> Iterator[Row]:
    yield _row("time", [figures.duration(value) for value in _three(forecast.seconds)])
    yield from _use(forecast.total, "")
    if len(forecast.models) > 1:
        for model, use in forecast.models.items():
            yield from _use(use, f"{clean(model, 24)}: ")


def _use(use: Use, of: str) -> Iterator[Row]:
    counts = {"requests": use.calls}
    if use.tokens_in.value:
        counts |= {"tokens in": use.tokens_in, "cached": use.tokens_cached, "tokens out": use.tokens_out}
    for name, found in counts.items():
        yield _row(f"{of}{name}", [f"{value:,.0f}" for value in _three(found)])
    if use.cost is not None:
        yield _row(f"{of}cost", [figures.money(value, use.currency) for value in _three(use.cost)])


def _row(name: str, cells: Sequence[str]) -> Row:
    estimate, low, high = cells
    return name, estimate, low, high


def _three(found: Figure) -> tuple[float, float, float]:
    return found.value, found.low, found.high

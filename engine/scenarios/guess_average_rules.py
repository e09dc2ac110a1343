"""Texts, statistics and scripted players of the guessing game, apart from the engine's machinery."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate
from math import exp, factorial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.models.policy import Rule, Turn

if TYPE_CHECKING:
    from engine.scenarios.guess_average import GuessAverageSettings

MAX_LEVEL = 30
"""Poisson weights beyond are below 1e-9 for every tau that has been estimated (at most 5)."""

MAX_STEPS = 10_000
"""A level-k player thinks no more steps than that: far beyond the last one that changes a choice."""

_FRACTION = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(?:/\s*([0-9]{1,9}))?\s*")


def fraction(ratio: float | str) -> float | None:
    """Return a ratio given as number or as text such as "2/3"; None if the text is neither."""
    if not isinstance(ratio, str):
        return float(ratio)
    found = _FRACTION.fullmatch(ratio)
    if found is None or (found[2] and int(found[2]) == 0):
        return None
    return float(found[1]) / int(found[2] or 1)


def instructions(settings: GuessAverageSettings, n_players: int) -> str:
    """Return the rules of the game as the players read them."""
    share = settings.ratio if isinstance(settings.ratio, str) else f"{settings.ratio:.15g}"
    sign = "plus" if settings.offset > 0 else "minus"
    plus = f" {sign} {abs(settings.offset):.15g}" if settings.offset else ""
    kind = "whole number" if settings.decimals == 0 else f"number with at most {settings.decimals} decimals"
    rules = (
        f"You take part in a game with {n_players} players. In each round every player names a {kind} from "
        f"{settings.low:.15g} to {settings.high:.15g}, all at the same time. The target is {share} of the "
        f"average of all the numbers named{plus}. Whoever is closest to the target wins the round. You want "
        "to win."
    )
    return f"{rules} {_MANNER[settings.prompt]}"


_AT_ONCE = "Reply with your number alone."
_THINK = 'First think it through step by step, then write a last line that says "ANSWER:" and your number.'
_RATIONAL = "All players are rational and know that the others are."
_MANNER = {
    "direct": _AT_ONCE,
    "think": _THINK,
    "rational": f"{_RATIONAL} {_THINK}",
    "strategic": f"{_RATIONAL} The others, too, try to work out how everybody else will choose. {_THINK}",
}


def announcement(
    settings: GuessAverageSettings, round_: int, average: float, target: float, winning: list[str]
) -> str:
    """Return what players are told after a round; ends with a space unless empty."""
    match settings.announce:
        case "target":
            return f"In round {round_} the average was {average:.2f} and the target {target:.2f}. "
        case "average":
            return f"In round {round_} the average was {average:.2f}. "
        case "winners":
            return f"In round {round_} the winning number was {' and '.join(winning)}. "
        case "nothing":
            return ""


def describe(guesses: NDArray[np.float64], decimals: int) -> dict[str, Any]:
    """Return mean, median, standard deviation (of the population) and mode (the smallest, if several)."""
    given = guesses[~np.isnan(guesses)]
    if not len(given):
        return {"mean": None, "median": None, "sd": None, "mode": None}
    values, counts = np.unique(given.round(decimals), return_counts=True)
    return {
        "mean": float(given.mean()),
        "median": float(np.median(given)),
        "sd": float(given.std()) if len(values) > 1 else 0.0,  # not the rounding of the mean
        "mode": float(values[counts.argmax()]),
    }


def level_k(level: int, anchor: float, ratio: float, offset: float = 0.0) -> float:
    """Return the choice of a level-k player: level 0 is at the anchor, each next one best-responds to it.

    Nagel, AER 85 (1995): from 50 with ratio 2/3 the choices are 50, 33.3, 22.2, ...
    """
    choice = anchor
    for _ in range(level):
        choice = offset + ratio * choice
    return choice


def poisson(tau: float, n_levels: int = MAX_LEVEL + 1) -> list[float]:
    """Return the shares of the thinking levels, Poisson with mean tau."""
    return [exp(-tau) * tau**k / factorial(k) for k in range(n_levels)]


@lru_cache(maxsize=16)
def _up_to_level(tau: float) -> list[float]:
    """Return, by level, the share of players who think at most that far."""
    return list(accumulate(poisson(tau)))


@lru_cache(maxsize=16)
def cognitive_hierarchy(tau: float, anchor: float, ratio: float, offset: float = 0.0) -> list[float]:
    """Return the choice of each level: it best-responds to all lower levels, in their true proportions.

    Camerer, Ho and Chong, QJE 119 (2004), equation 1.
    """
    shares = poisson(tau)
    choices = [anchor]
    for level in range(1, MAX_LEVEL + 1):
        below = shares[:level]
        mean = sum(f * x for f, x in zip(below, choices, strict=True)) / sum(below)
        choices.append(offset + ratio * mean)
    return choices


def nash(ratio: float, offset: float, low: float, high: float) -> float:
    """Return the number that everyone names in the equilibrium reached by iterated best response.

    With a ratio from 1, responses run away from the middle of the range to one of its ends.
    """
    if ratio < 1:
        return min(max(offset / (1 - ratio), low), high)
    middle = (low + high) / 2
    first_step = offset + ratio * middle - middle
    return high if first_step > 0 else low if first_step < 0 else middle


def _anchor(turn: Turn) -> float:
    """Where reasoning starts: the middle of the range, later the last average (Nagel 1995, section III)."""
    average = turn.facts["average"]
    return (turn.settings.low + turn.settings.high) / 2 if average is None else float(average)


def _ratio(turn: Turn) -> float:
    return fraction(turn.settings.ratio) or 0.0


def _say(turn: Turn, choice: float) -> str:
    settings = turn.settings
    return f"{min(max(choice, settings.low), settings.high):.{settings.decimals}f}"


def _level_0(turn: Turn) -> str:
    """Uniform around the anchor, as far as the nearer end of the range."""
    anchor = _anchor(turn)
    reach = min(anchor - turn.settings.low, turn.settings.high - anchor)
    return _say(turn, turn.rng.uniform(anchor - reach, anchor + reach))


def _play_level_k(turn: Turn) -> str:
    level = min(int(turn.parameters.get("level", 1)), MAX_STEPS)
    if level == 0:
        return _level_0(turn)
    return _say(turn, level_k(level, _anchor(turn), _ratio(turn), turn.settings.offset))


def _play_hierarchy(turn: Turn) -> str:
    tau = turn.parameters.get("tau", 1.5)
    level = min(bisect_right(_up_to_level(tau), turn.trait), MAX_LEVEL)
    if level == 0:
        return _level_0(turn)
    return _say(turn, cognitive_hierarchy(tau, _anchor(turn), _ratio(turn), turn.settings.offset)[level])


def _play_nash(turn: Turn) -> str:
    settings = turn.settings
    return _say(turn, nash(_ratio(turn), settings.offset, settings.low, settings.high))


def _play_random(turn: Turn) -> str:
    return _say(turn, turn.rng.uniform(turn.settings.low, turn.settings.high))


POLICIES: Mapping[str, Rule] = {
    "level_k": _play_level_k,
    "cognitive_hierarchy": _play_hierarchy,
    "nash": _play_nash,
    "random": _play_random,
}

POLICY_PARAMETERS = {"level_k": ("level",), "cognitive_hierarchy": ("tau",)}

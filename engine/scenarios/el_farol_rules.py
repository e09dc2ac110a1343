"""Texts and scripted players of the El Farol bar, apart from the engine's machinery."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.models.policy import Rule, Turn

if TYPE_CHECKING:
    from engine.scenarios.el_farol import ElFarolSettings

GO, STAY = "go", "stay"
History = tuple[int, ...]
"""How many went, round by round."""

Predictor = Callable[[History, int], float]
"""Tells from the past and the number of players how many will go."""

LOOK_BACK = 20
"""Rounds over which players judge their predictors."""


def instructions(settings: ElFarolSettings, n_players: int) -> str:
    """Return the rules as the players read them."""
    most = int(settings.capacity * n_players)
    return (
        f"Each evening, {n_players} people decide by themselves, without talking to each other, whether to "
        f"go to "
        f"a bar. An evening there is a pleasure if at most {most} go; if more go, it is too crowded, and "
        f"staying "
        f'at home is better. Reply with "{GO}" or "{STAY}".'
    )


def question(settings: ElFarolSettings, round_: int, history: History) -> str:
    """Return what a player is asked."""
    past = ", ".join(map(str, history[-settings.memory :]))
    told = f"On the last evenings, the oldest first, so many went: {past}. " if past else ""
    return f"{told}Evening {round_} of {settings.rounds}: do you go or stay?"


def _same(k: int) -> Predictor:
    return lambda past, n: past[-min(k, len(past))]


def _mirrored(k: int) -> Predictor:
    return lambda past, n: n - past[-min(k, len(past))]


def _average(k: int) -> Predictor:
    return lambda past, n: sum(past[-k:]) / len(past[-k:])


def _trend(k: int) -> Predictor:
    def predict(past: History, n: int) -> float:
        """Carry the line through first and last of the last k on, within 0 and n."""
        recent = past[-k:]
        slope = (recent[-1] - recent[0]) / max(len(recent) - 1, 1)
        return min(max(recent[-1] + slope, 0), n)

    return predict


PREDICTORS: Sequence[Predictor] = [
    *map(_same, range(1, 8)),
    *map(_mirrored, range(1, 8)),
    *map(_average, (2, 3, 4, 6, 8, 12)),
    *map(_trend, (2, 3, 4, 6, 8)),
]
"""The kinds that Arthur (1994) names: as k weeks ago, mirrored around the half, averages, trends."""


@lru_cache(maxsize=256)
def errors(history: History, n: int) -> list[float]:
    """Return by how much each predictor was wrong in the last rounds, all together."""
    total = [0.0] * len(PREDICTORS)
    for t in range(max(1, len(history) - LOOK_BACK), len(history)):
        past = history[:t]
        total = [e + abs(p(past, n) - history[t]) for e, p in zip(total, PREDICTORS, strict=True)]
    return total


def predictors(turn: Turn) -> str:
    """Go if the best of one's `predictors` expects room (Arthur, American Economic Review 84, 1994)."""
    history, n = tuple(turn.facts["history"]), turn.facts["players"]
    if not history:
        return _word(turn.rng.random() < 0.5)
    n_own = min(max(int(turn.parameters.get("predictors", 6)), 1), len(PREDICTORS))
    own = Random(turn.trait).sample(range(len(PREDICTORS)), n_own)
    best = min(own, key=errors(history, n).__getitem__)
    return _word(PREDICTORS[best](history, n) <= turn.settings.capacity * n)


def strategies(turn: Turn) -> str:
    """Play the minority game: follow that of one's `strategies` which would have won most often.

    A strategy says for each course of the last `memory` rounds whether to go; it is drawn at random (Challet
    and Zhang, Physica A 246, 1997).
    """
    memory = min(max(int(turn.parameters.get("memory", 5)), 1), 16)
    n_own = min(max(int(turn.parameters.get("strategies", 2)), 1), 64)
    most = turn.settings.capacity * turn.facts["players"]
    room, courses = _course(tuple(turn.facts["history"]), most, memory)
    own = _drawn(turn.trait, n_own, memory)
    points = (own[:, courses[:-1]] == room).sum(axis=1)
    best = turn.rng.choice(np.flatnonzero(points == points.max()).tolist())
    return _word(bool(own[best, courses[-1]]))


@lru_cache(maxsize=256)
def _course(history: History, most: float, memory: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return in which rounds there was room, and what was remembered before each of them and the next one."""
    room = np.array(history, dtype=np.float64) <= most
    before = np.concatenate([np.zeros(memory, dtype=np.int64), room])
    courses = np.zeros(len(history) + 1, dtype=np.int64)
    for k in range(memory):
        courses = 2 * courses + before[k : k + len(history) + 1]
    return room, courses


@lru_cache(maxsize=4096)
def _drawn(trait: float, n: int, memory: int) -> NDArray[np.bool_]:
    generator = np.random.Generator(np.random.PCG64(int(trait * 2**53)))
    return generator.random((n, 2**memory)) < 0.5


def chance(turn: Turn) -> str:
    """Go with the probability that fills the bar on average: the symmetric equilibrium in mixed "
    "strategies."""
    return _word(turn.rng.random() < turn.settings.capacity)


def _word(goes: bool) -> str:
    return GO if goes else STAY


POLICIES: Mapping[str, Rule] = {"predictors": predictors, "strategies": strategies, "random": chance}
POLICY_PARAMETERS = {"predictors": ("predictors",), "strategies": ("memory", "strategies")}

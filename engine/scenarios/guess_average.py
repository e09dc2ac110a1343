"""Guess a share of the average: the game of Nagel (1995) and of the million-agent study."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.scenarios.scenario import Scenario, ScenarioSettings


class GuessAverageSettings(ScenarioSettings, frozen=True, kw_only=True, tag="guess_average"):
    """Everyone names a number; the target is offset + ratio x the average; the closest wins."""

    ratio: Annotated[float, Meta(ge=0)] = 2 / 3
    """Share of the average that makes the target."""
    offset: float = 0.0
    """Added to the target; the study's shifted game is offset 5, ratio 0.5 (equilibrium 10)."""
    low: float = 0.0
    """Smallest number allowed."""
    high: float = 100.0
    """Largest number allowed."""
    decimals: Annotated[int, Meta(ge=0, le=6)] = 0
    """Digits after the point in an answer."""
    prompt: Literal["direct", "think", "rational", "strategic"] = "direct"
    """How the question is put: answer at once; think first; told that all are rational; told that the others
    try to guess each other's strategy too."""
    calls: Literal[1, 2] = 1
    """Calls a turn: one constrained answer, or the study's two (a free reply, then the number out of it)."""
    announce: Literal["target", "average", "winners", "nothing"] = "target"
    """What players are told after each round."""
    player_numbers: bool = True
    """Tell each player its number; without, all first prompts are the same text."""


class GuessAverage(Scenario):
    """The game."""

    Settings = GuessAverageSettings

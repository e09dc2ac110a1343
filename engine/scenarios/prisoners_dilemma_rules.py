"""Payoffs, strategies and texts of the repeated prisoner's dilemma, apart from the engine's machinery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.models.policy import Rule, Turn

if TYPE_CHECKING:
    from engine.scenarios.prisoners_dilemma import PrisonersDilemmaSettings

C, D, NO_MOVE = "C", "D", "-"
COOPERATE, DEFECT = "cooperate", "defect"
_WORDS = {C: COOPERATE, D: DEFECT, NO_MOVE: "no move"}

Moves = NDArray[np.uint8]
"""The characters of moves as bytes."""


def points(mine: Moves, theirs: Moves, settings: PrisonersDilemmaSettings) -> NDArray[np.float64]:
    """Return what each move earned against the other's; 0 if one of them is missing."""
    i_cooperate, they_cooperate = mine == ord(C), theirs == ord(C)
    earned = np.where(
        i_cooperate,
        np.where(they_cooperate, settings.reward, settings.sucker),
        np.where(they_cooperate, settings.temptation, settings.punishment),
    )
    return np.where((mine == ord(NO_MOVE)) | (theirs == ord(NO_MOVE)), 0.0, earned)


def instructions(settings: PrisonersDilemmaSettings) -> str:
    """Return the rules as the players read them."""
    return (
        "You play a game of several rounds against one or more other players, against each of them "
        "separately. "
        f"In each round both of you cooperate or defect, at the same time. If both cooperate, both get "
        f"{settings.reward:.15g} points; if both defect, both get {settings.punishment:.15g}. If one "
        f"defects and "
        f"the other cooperates, the one who defects gets {settings.temptation:.15g} and the other "
        f"{settings.sucker:.15g}. You want to get as many points as you can over all rounds."
    )


def question(opponent: int, mine: str, theirs: str, window: int) -> str:
    """Return what a player is asked; it tells the last `window` moves of the match."""
    history = "This is your first round together."
    if mine:
        told = [", ".join(_WORDS[move] for move in moves[-window:]) for moves in (mine, theirs)]
        history = f"Your last moves: {told[0]}. The moves of player {opponent}: {told[1]}."
    return f'You play against player {opponent}. {history} Reply with "{COOPERATE}" or "{DEFECT}".'


def _word(cooperates: bool) -> str:
    return COOPERATE if cooperates else DEFECT


def tit_for_tat(turn: Turn) -> str:
    """Cooperate at first, then do what the other did last (Rapoport, in Axelrod 1980)."""
    return _word(not turn.facts["theirs"].endswith(D))


def tit_for_two_tats(turn: Turn) -> str:
    """Defect only after two defections in a row."""
    return _word(not turn.facts["theirs"].endswith(D + D))


def generous_tit_for_tat(turn: Turn) -> str:
    """As tit for tat, but forgive a defection with probability `generosity`."""
    forgives = turn.rng.random() < turn.parameters.get("generosity", 1 / 3)
    return _word(forgives or not turn.facts["theirs"].endswith(D))


def grim(turn: Turn) -> str:
    """Cooperate until the other has defected once (Friedman, in Axelrod 1980)."""
    return _word(D not in turn.facts["theirs"])


def pavlov(turn: Turn) -> str:
    """Cooperate if both did the same last: win-stay, lose-shift (Nowak and Sigmund, Nature 364, 1993)."""
    mine, theirs = turn.facts["mine"], turn.facts["theirs"]
    return _word(not mine or theirs.endswith(NO_MOVE) or mine[-1] == theirs[-1])


def always_cooperate(turn: Turn) -> str:
    """Cooperate."""
    return COOPERATE


def always_defect(turn: Turn) -> str:
    """Defect: the equilibrium of a single round."""
    return DEFECT


def chance(turn: Turn) -> str:
    """Cooperate with probability `cooperation`."""
    return _word(turn.rng.random() < turn.parameters.get("cooperation", 0.5))


POLICIES: Mapping[str, Rule] = {
    "tit_for_tat": tit_for_tat,
    "tit_for_two_tats": tit_for_two_tats,
    "generous_tit_for_tat": generous_tit_for_tat,
    "grim": grim,
    "pavlov": pavlov,
    "always_cooperate": always_cooperate,
    "always_defect": always_defect,
    "random": chance,
}

POLICY_PARAMETERS = {"generous_tit_for_tat": ("generosity",), "random": ("cooperation",)}

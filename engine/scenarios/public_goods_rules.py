"""Texts, payoffs and scripted players of the public goods game, apart from the engine's machinery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from engine.models.policy import Rule, Turn
from engine.scenarios.columns import Numbers

if TYPE_CHECKING:
    from engine.scenarios.public_goods import PublicGoodsSettings

CONDITIONAL, FREE_RIDER, HUMP = 0.50, 0.80, 0.94
"""Up to where types go: 50 % conditional cooperators, 30 % free riders, 14 % hump-shaped, others.

Fischbacher, Gaechter and Fehr, Economics Letters 71 (2001).
"""


def instructions(settings: PublicGoodsSettings, n_members: int) -> str:
    """Return the rules as the members of a group read them."""
    rules = (
        f"You are one of {n_members} members of a group that plays {settings.periods} periods. In each "
        f"period every member gets {settings.endowment} tokens and decides, at the same time as the others, "
        "how many of them to contribute to a project of the group. You keep the tokens that you do not "
        f"contribute. Each token in the project earns every member {settings.mpcr:.15g} tokens, whoever "
        "contributed it."
    )
    sanctions = (
        " After that, each member sees what each other member contributed and may give deduction points, at "
        f"most {settings.most_points} to a member: each point costs you {settings.cost:.15g} tokens and "
        f"takes {settings.effect:.15g} tokens away from the member who gets it."
    )
    return f"{rules}{sanctions if settings.punishment else ''} You want to earn as many tokens as possible."


def contribution_question(settings: PublicGoodsSettings, period: int, news: str) -> str:
    """Return what a member is asked in the first stage."""
    return (
        f"{news}Period {period} of {settings.periods}: how many of your {settings.endowment} tokens do you "
        "contribute? Reply with the number alone."
    )


def punishment_question(own: float | None, others: Sequence[tuple[int, float | None]]) -> str:
    """Return what a member is asked in the second stage; `others` are the others' numbers and choices."""
    told = ", ".join(f"member {number + 1} {_tokens(given)}" for number, given in others)
    return (
        f"You contributed {_tokens(own)} tokens, the others: {told}. How many deduction points do you give "
        f"to each of them? Reply with a JSON list of {len(others)} whole numbers, in that order."
    )


def news(own: float | None, others: float, earned: float, received: float | None) -> str:
    """Return what a member is told of the last period; ends with a space."""
    sanction = f", got {received:.15g} deduction points" if received is not None else ""
    return (
        f"In the last period you contributed {_tokens(own)} tokens{sanction} and earned {earned:.1f}; the "
        f"others contributed {others:.1f} on average. "
    )


def _tokens(given: float | None) -> str:
    return "nothing (no answer)" if given is None else f"{given:.15g}"


def payoffs(given: Numbers, starts: Sequence[int], endowment: float, mpcr: float) -> Numbers:
    """Return what the first stage earns each member; `starts` is where each group begins.

    What is kept, and `mpcr` (marginal per capita return) times what the group contributed.
    """
    totals = np.add.reduceat(np.nan_to_num(given), starts)
    sizes = np.diff([*starts, len(given)])
    return endowment - given + mpcr * np.repeat(totals, sizes)


def _say(turn: Turn, tokens: float) -> str:
    endowment = turn.settings.endowment
    return str(round(min(max(tokens, 0), endowment)))


def _spare(turn: Turn) -> str:
    """Give no points."""
    return msgspec.json.encode([0] * len(turn.facts["others"])).decode()


def _punishes(turn: Turn) -> bool:
    return isinstance(turn.facts["others"], list)


def free_rider(turn: Turn) -> str:
    """Contribute nothing, punish nobody: the equilibrium of selfish players in the last and in any period."""
    return _spare(turn) if _punishes(turn) else "0"


def altruist(turn: Turn) -> str:
    """Contribute everything, punish nobody: what earns the group most if mpcr x members exceeds 1."""
    return _spare(turn) if _punishes(turn) else str(turn.settings.endowment)


def conditional_cooperator(turn: Turn) -> str:
    """Contribute what the others did on average; at first a share `belief` of the endowment."""
    return _spare(turn) if _punishes(turn) else _say(turn, _expected(turn))


def types(turn: Turn) -> str:
    """Play the types of Fischbacher et al. (2001): conditional, selfish, hump-shaped, random.

    All but the selfish punish who contributed less than they did, `severity` points a token. Whoever was
    punished contributes a token more for each point, and never less than before.
    """
    if _punishes(turn):
        return _spare(turn) if CONDITIONAL <= turn.trait < FREE_RIDER else _sanctions(turn)
    return _say(turn, max(_typical(turn), _deterred(turn)))


def _typical(turn: Turn) -> float:
    expected, endowment = _expected(turn), float(turn.settings.endowment)
    if turn.trait < CONDITIONAL:
        return expected
    if turn.trait < FREE_RIDER:
        return 0.0
    if turn.trait < HUMP:
        return min(expected, endowment - expected)
    return turn.rng.uniform(0, endowment)


def _expected(turn: Turn) -> float:
    """What a member expects of the others: what they did last.

    At first 80 % of the endowment, so that contributions start at 40 to 60 %, as they do in experiments.
    """
    last = turn.facts["others"]
    return float(turn.parameters.get("belief", 0.8) * turn.settings.endowment if last is None else last)


def _deterred(turn: Turn) -> float:
    """What past punishment makes a member contribute."""
    if not turn.settings.punishment or turn.facts["own"] is None:
        return 0.0
    return float(turn.facts["own"] + turn.facts["points"])


def _sanctions(turn: Turn) -> str:
    own, severity = turn.facts["own"] or 0, turn.parameters.get("severity", 0.5)
    missing = [max(0.0, own - (given or 0)) for given in turn.facts["others"]]
    points: list[Any] = [min(round(severity * tokens), turn.settings.most_points) for tokens in missing]
    return msgspec.json.encode(points).decode()


POLICIES: Mapping[str, Rule] = {
    "free_rider": free_rider,
    "altruist": altruist,
    "conditional_cooperator": conditional_cooperator,
    "types": types,
}

POLICY_PARAMETERS = {"conditional_cooperator": ("belief",), "types": ("belief", "severity")}

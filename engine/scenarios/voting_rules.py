"""What voters want, texts and scripted voters, apart from the engine's machinery."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from engine.draws import mix, uniform
from engine.models.policy import Rule, Turn
from engine.population.quotas import largest_remainder

if TYPE_CHECKING:
    from engine.scenarios.voting import VotingSettings

ABSTAIN = "abstain"
LEAN, SAY, BALLOT = "lean", "say", "ballot"
"""What a voter is asked for."""

METHODS: Mapping[str, str] = {
    "plurality": "Everybody votes for one option; the one with most votes wins.",
    "runoff": "Everybody ranks the options. If none is first for more than half, the two that are first most "
    "often are compared, and the one that more people prefer wins.",
    "approval": "Everybody names all options that they approve of; the one with most approval wins.",
    "borda": "Everybody ranks the options. The last gets no point, each one above it a point more than the "
    "next; the one with most points wins.",
}


def ranking(settings: VotingSettings, seed: int, election: int, members: range, voter: int) -> list[int]:
    """Return a voter's options, the best first: those of its camp, after its signal, or else at random."""
    n, group = len(settings.options), members.start
    if settings.camps:
        camp = settings.camps[_camps(settings.camp_shares, len(members), seed, group)[voter - group]]
        return [settings.options.index(option) for option in camp.ranking]
    found = list(range(n))
    Random(mix(mix(seed, voter), election if settings.right else 0)).shuffle(found)
    if settings.right:
        right = settings.options.index(settings.right)
        found.remove(right)
        is_right = uniform(mix(seed, election), voter) < settings.competence
        found.insert(0 if is_right else 1, right)
    return found


@lru_cache(maxsize=1024)
def _camps(shares: tuple[float, ...], n: int, seed: int, group: int) -> list[int]:
    """Return which camp each member is of: exact numbers (largest remainders), dealt at random."""
    counts = largest_remainder(np.array(shares) / sum(shares) * n, n)
    dealt = np.repeat(np.arange(len(shares)), counts)
    found: list[int] = np.random.Generator(np.random.PCG64([seed, group])).permutation(dealt).tolist()
    return found


def instructions(settings: VotingSettings, n_members: int) -> str:
    """Return the rules as the voters read them."""
    talk = "First they talk, then they vote in secret. " if settings.discussion else "The vote is secret. "
    options = ", ".join(settings.options)
    return (
        f"{n_members} people decide together: {settings.question} The options are: {options}. {talk}"
        f"{METHODS[settings.method]}"
    )


def wishes(settings: VotingSettings, ranked: Sequence[str]) -> str:
    """Return what a voter is told of its own wishes, if the scenario gives it any."""
    if settings.right:
        sure = f"{100 * settings.competence:.3g}"
        return f"What you have seen speaks for {ranked[0]}; such signs are right in {sure} of 100 cases. "
    return f"You like {', then '.join(ranked)}. " if settings.camps else ""


def heard(settings: VotingSettings, poll: Sequence[int], statements: Sequence[tuple[int, str]]) -> str:
    """Return what a voter is told of the discussion so far; others' words come as quoted text."""
    if not sum(poll):
        return ""
    counts = ", ".join(f"{n} to {option}" for n, option in zip(poll, settings.options, strict=True))
    said = [f"One leans to {settings.options[lean]}: {_quoted(text)}" for lean, text in statements if text]
    return "\n".join([f"So many lean to each option: {counts}.", *said]) + "\n"


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def ballot_question(settings: VotingSettings) -> str:
    """Return how the ballot is asked for."""
    may = (
        f" To abstain, reply {ABSTAIN if settings.method == 'plurality' else '[]'}."
        if settings.abstain
        else ""
    )
    match settings.method:
        case "plurality":
            how = f"Reply with one of: {', '.join(settings.options)}."
        case "approval":
            how = "Reply with a JSON list of the options that you approve of."
        case _:
            how = "Reply with a JSON list of all options, the best for you first."
    return f"Now you vote. {how}{may}"


def _policy(lean: Callable[[Turn], str], ballot: Callable[[Turn], Sequence[str]]) -> Rule:
    """Return a rule that says what it leans to and votes by a list of options, the best first."""

    def rule(turn: Turn) -> str:
        match turn.facts["stage"]:
            case "lean":
                return lean(turn)
            case "say":
                return f"I am for {turn.facts['lean']}."
            case _:
                chosen = list(ballot(turn))
                return (
                    chosen[0] if turn.settings.method == "plurality" else msgspec.json.encode(chosen).decode()
                )

    return rule


def _first(turn: Turn) -> str:
    first: str = turn.facts["ranking"][0]
    return first


def _sincere(turn: Turn) -> Sequence[str]:
    ranked: list[str] = turn.facts["ranking"]
    return ranked[: max(len(ranked) // 2, 1)] if turn.settings.method == "approval" else ranked


def _leaders(turn: Turn) -> list[str]:
    """Return the options by how many lean to them; none before anybody has said so."""
    poll = turn.facts["poll"]
    order = sorted(range(len(poll)), key=lambda option: -poll[option])
    return [turn.settings.options[option] for option in order] if sum(poll) else []


def _strategic(turn: Turn) -> Sequence[str]:
    """Help the better of the two front runners, and hurt the other one."""
    front, ranked = _leaders(turn)[:2], turn.facts["ranking"]
    if not front:
        return _sincere(turn)
    better, worse = sorted(front, key=ranked.index)
    if turn.settings.method == "approval":
        return list(ranked[: ranked.index(better) + 1])
    return [better, *(option for option in ranked if option not in front), worse]


def _leader(turn: Turn) -> str:
    leaders = _leaders(turn)
    return leaders[0] if leaders else _first(turn)


def _bandwagon(turn: Turn) -> Sequence[str]:
    leader = _leader(turn)
    if turn.settings.method == "approval":
        return [leader]
    return [leader, *(option for option in turn.facts["ranking"] if option != leader)]


POLICIES: Mapping[str, Rule] = {
    "sincere": _policy(_first, _sincere),
    "strategic": _policy(_first, _strategic),
    "bandwagon": _policy(_leader, _bandwagon),
}

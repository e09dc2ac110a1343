"""Compares runs round by round with the first of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.compare.answers import Answers, Kind, in_common, read_answers, read_group_means
from engine.compare.inference import Choices, Numbers, compare_choices, compare_numbers, holm
from engine.journal.reader import Reader

MIN_GROUPS = 5
"""From so many groups on each side, groups and not agents are compared after the first round: what members of
a group hear of each other makes their answers depend on each other."""


@dataclass(frozen=True, kw_only=True)
class RoundComparison:
    """A round that both runs have finished."""

    round: int
    kind_a: Kind
    kind_b: Kind
    n_a: int
    """Agents with an answer."""
    n_b: int
    unit: str
    """What is counted and compared: "agent" or "group"."""
    n_both: int
    """Agents of the same number that answered in both runs."""
    n_same: int
    """Those of them that gave the same answer."""
    numbers: Numbers | None = None
    choices: Choices | None = None
    p_adjusted: float | None = None
    """After Holm, over the rounds of this comparison."""

    @property
    def p(self) -> float | None:
        """The p-value of the test that was made, if any."""
        found = self.numbers or self.choices
        return found.p if found else None


@dataclass(frozen=True)
class Comparison:
    """Run `b` against run `a`, by their places among the runs compared."""

    a: int
    b: int
    rounds: list[RoundComparison]


def compare(files: Sequence[Reader], seed: int = 0) -> list[Comparison]:
    """Compare each run with the first. Raises JournalError."""
    return [Comparison(0, b, _rounds(files[0], files[b], seed)) for b in range(1, len(files))]


def _rounds(a: Reader, b: Reader, seed: int) -> list[RoundComparison]:
    both = sorted({end.round for end in a.rounds()} & {end.round for end in b.rounds()})
    found = [_round(a, b, round_, seed) for round_ in both]
    adjusted = holm([each.p for each in found])
    return [replace(each, p_adjusted=p) for each, p in zip(found, adjusted, strict=True)]


def _round(a: Reader, b: Reader, round_: int, seed: int) -> RoundComparison:
    of_a, of_b = read_answers(a, round_), read_answers(b, round_)
    n_both, n_same = in_common(of_a, of_b)
    found = RoundComparison(
        round=round_,
        kind_a=of_a.kind,
        kind_b=of_b.kind,
        n_a=len(of_a.agents),
        n_b=len(of_b.agents),
        unit="agent",
        n_both=n_both,
        n_same=n_same,
    )
    match (found.kind_a, found.kind_b):
        case (Kind.NUMBERS, Kind.NUMBERS):
            means_a, means_b = read_group_means(a, round_), read_group_means(b, round_)
            if round_ > 1 and min(len(means_a), len(means_b)) >= MIN_GROUPS:
                return replace(found, unit="group", numbers=compare_numbers(means_a, means_b, seed))
            return replace(found, numbers=compare_numbers(of_a.values, of_b.values, seed))
        case (Kind.CHOICES, Kind.CHOICES):
            return replace(found, choices=compare_choices(_counts(of_a), _counts(of_b), seed))
        case _:
            return found


def _counts(answers: Answers) -> Counter[str]:
    return Counter(map(str, answers.values))

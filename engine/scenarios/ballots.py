"""How votes are counted: plurality, majority runoff, approval and Borda, and who beats all others.

A ballot is a list of options, as numbers: the only one, those that are approved of, or the best first.
Options that a ranking leaves out come last, all alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Method = Literal["plurality", "runoff", "approval", "borda"]
Ballot = Sequence[int]


def cleaned(ballot: Ballot, n: int) -> list[int]:
    """Return a ballot without what is no option, and without options that have been named before."""
    return [option for option in dict.fromkeys(ballot) if 0 <= option < n]


def scores(method: Method, ballots: Sequence[Ballot], n: int) -> list[float]:
    """Return the votes, or points, of each option; of a runoff those of its first stage."""
    found = [0.0] * n
    for ballot in ballots:
        if method == "borda":
            for option, points in enumerate(_borda(ballot, n)):
                found[option] += points
        else:
            for option in ballot if method == "approval" else ballot[:1]:
                found[option] += 1
    return found


def winners(method: Method, ballots: Sequence[Ballot], n: int) -> list[int]:
    """Return who wins; several if they are equal, nobody without ballots.

    A runoff is between the two with most first places, unless one has more than half of them.
    """
    if not any(ballots):
        return []
    counted = scores(method, ballots, n)
    best = _best(counted, range(n))
    if method != "runoff" or max(counted) * 2 > sum(counted):
        return best
    finalists = best if len(best) > 1 else [*best, *_best(counted, [o for o in range(n) if o not in best])]
    wins = [min(beats(ballots, one, other) for other in finalists if other != one) for one in range(n)]
    return _best(wins, finalists)


def beats(ballots: Sequence[Ballot], one: int, other: int) -> int:
    """Return by how many more voters an option is preferred to another."""
    return sum(_prefers(ballot, one, other) - _prefers(ballot, other, one) for ballot in ballots)


def condorcet_winner(rankings: Sequence[Ballot], n: int) -> int | None:
    """Return the option that a majority prefers to each other one, if there is one."""
    rest = range(n)
    found = (one for one in rest if all(beats(rankings, one, other) > 0 for other in rest if other != one))
    return next(found, None)


def _best(counted: Sequence[float], among: Sequence[int]) -> list[int]:
    most = max(counted[option] for option in among)
    return [option for option in among if counted[option] == most]


def _borda(ranking: Ballot, n: int) -> list[float]:
    """Return the points of one ranking: n - 1 for the best, 0 for the last; none if nobody is ranked."""
    if not ranking:
        return [0.0] * n
    points = [(n - len(ranking) - 1) / 2] * n
    for place, option in enumerate(ranking):
        points[option] = float(n - 1 - place)
    return points


def _prefers(ranking: Ballot, one: int, other: int) -> bool:
    return one in ranking and (other not in ranking or ranking.index(one) < ranking.index(other))

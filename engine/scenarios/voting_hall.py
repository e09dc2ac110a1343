"""Where a group of voters talks, and where its ballot box is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from engine.environments.attributes import shared
from engine.environments.environment import Environment
from engine.environments.methods import buffered
from engine.scenarios import ballots


class Heard(msgspec.Struct, frozen=True):
    """What a voter knows of the discussion."""

    poll: list[int]
    """How many lean to each option; empty before anybody has said so."""
    statements: list[tuple[int, str]]
    """What others lean to, and their words."""


class Hall(Environment):
    """The statements and leanings of a round, and the ballots, which nobody sees."""

    poll = shared(list)

    def setup(self) -> None:
        """Begin the first vote."""
        self.said: dict[int, tuple[int, str]] = {}
        self.leanings: dict[int, int] = {}
        """What each leaned to first."""
        self.box: dict[int, list[int]] = {}
        self.wanted: list[list[int]] = []

    def hear(self) -> Heard:
        """Return how many lean to what, and the words of some: in each round of others."""
        members, hears = self.members, min(self.settings.hears, len(self.members) - 1)
        first = self.caller - members.start + 1 + self.round * hears
        others = (members[(first + n) % len(members)] for n in range(hears + 1))
        heard = [self.said[other] for other in others if other != self.caller and other in self.said]
        return Heard(self.poll, heard[:hears])

    @buffered
    def speak(self, leaning: int, text: str) -> None:
        """Say what one leans to, and why."""
        self.said[self.caller] = (leaning, text)
        self.leanings.setdefault(self.caller, leaning)

    @buffered
    def cast(self, ballot: list[int], wanted: list[int]) -> None:
        """Put a ballot into the box; beside it what the voter really wants, if the scenario has told it."""
        self.box[self.caller] = ballots.cleaned(ballot, len(self.settings.options))
        self.wanted.append(wanted)

    def end_round(self) -> dict[str, Any]:
        """Count what members lean to, or their votes."""
        if self.settings.is_vote(self.round):
            report = self._result()
            self.setup()
            self.poll = []
            return report
        leanings = [[leaning] for leaning, _ in self.said.values()]
        self.poll = [int(n) for n in ballots.scores("plurality", leanings, len(self.settings.options))]
        return self._columns("plurality", leanings)

    def _columns(self, method: ballots.Method, cast: Sequence[ballots.Ballot]) -> dict[str, Any]:
        options = self.settings.options
        counted = ballots.scores(method, cast, len(options))
        best = ballots.winners(method, cast, len(options))
        winner = options[best[int(self.rng.integers(len(best)))]] if best else None
        total = len(cast) if method == "approval" else sum(counted)
        shares = {f"for {o}": n / total if total else None for o, n in zip(options, counted, strict=True)}
        return {"winner": winner, **shares}

    def _result(self) -> dict[str, Any]:
        cast = [ballot for ballot in self.box.values() if ballot]
        columns = self._columns(self.settings.method, cast)
        best, winner = self._beats_all(cast), columns["winner"]
        columns |= {
            "turnout": len(cast) / len(self.members),
            "changed": self._changed(),
            "Condorcet winner": best,
            "elected it": None if best is None else int(winner == best),
        }
        return columns | ({"right": int(winner == self.settings.right)} if self.settings.right else {})

    def _changed(self) -> int | None:
        """Return how many vote for something else than they first leaned to; None if that is not known."""
        both = [(first, ballot) for voter, first in self.leanings.items() if (ballot := self.box.get(voter))]
        approving = self.settings.method == "approval"
        return (
            sum(first not in (ballot if approving else ballot[:1]) for first, ballot in both)
            if both
            else None
        )

    def _beats_all(self, cast: Sequence[ballots.Ballot]) -> str | None:
        """Return the Condorcet winner by what voters want if that is known, otherwise by their rankings."""
        ranked = [*filter(None, self.wanted)]
        if not ranked and self.settings.method in ("runoff", "borda"):
            ranked = [*map(list, cast)]
        found = ballots.condorcet_winner(ranked, len(self.settings.options)) if ranked else None
        return None if found is None else self.settings.options[found]

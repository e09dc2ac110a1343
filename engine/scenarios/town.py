"""A town on a grid: where people are, whom they meet there, and what they pass on."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.draws import mix, uniforms
from engine.environments.environment import Environment
from engine.environments.methods import buffered

Place = Literal["home", "work", "cafe", "stay", "north", "south", "east", "west", "anywhere"]
_STEPS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
_STREAMS = {"home": 1, "work": 2, "cafe": 3, "works": 4, "cafes": 5, "first": 6}
"""Tell draws of these from each other."""

UNAWARE, INFORMED, BORED = 0, 1, 2

Numbers = NDArray[Any]


class Scene(msgspec.Struct, frozen=True):
    """What somebody sees: of the round before, for in this one nobody is there yet."""

    x: int
    y: int
    place: str
    """"home", "work", "cafe" or "street"."""
    n_met: int
    informed: bool
    """Whether it has heard the news, and still cares."""
    heard: list[str]


class Town(Environment):
    """Places and people; one for each group. The edges of the grid are joined: going on leads around it."""

    def setup(self) -> None:
        """Put everybody into its home, and inform the first."""
        settings, n = self.settings, len(self.members)
        self._n_cells = settings.width * settings.height
        works = self._cells("works", np.arange(settings.works))
        cafes = self._cells("cafes", np.arange(settings.cafes))
        people = np.arange(n)
        self._at = {
            "home": self._cells("home", people),
            "work": works[self._drawn("work", people, len(works))],
            "cafe": cafes[self._drawn("cafe", people, len(cafes))],
        }
        self._cell = self._at["home"].copy()
        self._news = np.full(n, UNAWARE, dtype=np.int8)
        self._news[np.argsort(self._uniforms("first", people))[: settings.first]] = INFORMED
        self._n_met = np.zeros(n, dtype=np.int64)
        self._said: dict[int, list[tuple[int, str]]] = {}
        """By cell, what was said there in company in the round before, and by whom."""
        self._begin_round()

    def _begin_round(self) -> None:
        n = len(self.members)
        self._out, self._tells = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        self._says: dict[int, str] = {}

    def look(self) -> Scene:
        """Return what the caller sees."""
        me = self.caller - self.members.start
        cell = int(self._cell[me])
        heard = [f"person {who}: {text}" for who, text in self._said.get(cell, ()) if who != self.caller]
        y, x = divmod(cell, self.settings.width)
        place = next((name for name, cells in self._at.items() if cells[me] == cell), "street")
        informed = bool(self._news[me] == INFORMED)
        return Scene(x, y, place, int(self._n_met[me]), informed, heard[-self.settings.hears :])

    @buffered
    def go(self, where: Place, tell: bool, say: str) -> None:
        """Be somewhere at the round's end; with `tell`, pass the news on to all who are there."""
        me = self.caller - self.members.start
        self._cell[me] = self._target(me, where)
        self._out[me] = True
        self._tells[me] = tell and self._news[me] == INFORMED
        if line := " ".join(say.split()):  # one line, so that nobody can speak for others
            self._says[me] = line

    def _target(self, me: int, where: Place) -> int:
        if where in self._at:
            return int(self._at[where][me])
        if where == "anywhere":
            return int(self.rng.integers(self._n_cells))
        y, x = divmod(int(self._cell[me]), self.settings.width)
        dx, dy = _STEPS.get(where, (0, 0))
        width, height = self.settings.width, self.settings.height
        return int((y + dy) % height * width + (x + dx) % width)

    def end_round(self) -> dict[str, Any]:
        """Let those who are in the same cell meet."""
        cells, out = self._cell[self._out], np.flatnonzero(self._out)
        there = np.bincount(cells, minlength=self._n_cells)
        self._n_met = np.zeros(len(self.members), dtype=np.int64)
        self._n_met[out] = there[cells] - 1
        self._spread(out, cells)
        self._said = {}
        for me, text in self._says.items():
            if self._n_met[me]:
                self._said.setdefault(int(self._cell[me]), []).append((self.members.start + me, text))
        report = {
            "meetings": int((there * (there - 1) // 2).sum()),
            "contacts": float(self._n_met[out].mean()) if len(out) else None,
            "said": sum(map(len, self._said.values())),
            "informed": float((self._news != UNAWARE).mean()),
            "telling": float((self._news == INFORMED).mean()),
        }
        self._begin_round()
        return report

    def _spread(self, out: Numbers, cells: Numbers) -> None:
        """Inform those who meet somebody who tells, with probability `catches` each; some lose interest."""
        tellers = np.bincount(self._cell[self._tells], minlength=self._n_cells)[cells]
        caught = self.rng.random(len(out)) < 1 - (1 - self.settings.catches) ** tellers
        was_informed = self._news == INFORMED
        bored = was_informed & (self.rng.random(len(self._news)) < self.settings.loses)
        self._news[out[caught & (self._news[out] == UNAWARE)]] = INFORMED
        self._news[bored] = BORED

    def _uniforms(self, of: str, numbers: Numbers) -> Numbers:
        return uniforms(mix(mix(self._seed, self.group), _STREAMS[of]), numbers)

    def _drawn(self, of: str, numbers: Numbers, n: int) -> Numbers:
        return (self._uniforms(of, numbers) * n).astype(np.int64)

    def _cells(self, of: str, numbers: Numbers) -> Numbers:
        return self._drawn(of, numbers, self._n_cells)

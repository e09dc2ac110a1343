"""The repeated prisoner's dilemma, as a tournament of all against all or along a network.

Axelrod, Journal of Conflict Resolution 24 (1980), whose payoffs are the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engine.agents.agent import Agent
from engine.agents.effects import gather
from engine.agents.memory import Prompt, said
from engine.models.answers import Choice
from engine.models.protocol import Message
from engine.scenarios import prisoners_dilemma_rules as rules
from engine.scenarios.scenario import Outcome, Scenario, ScenarioSettings

MAX_OPPONENTS = 500
"""Calls that an agent can make at once, with room for asking again."""

Points = Annotated[float, Meta(ge=-1_000_000, le=1_000_000)]


class PrisonersDilemmaSettings(ScenarioSettings, frozen=True, kw_only=True, tag="prisoners_dilemma"):
    """Everybody plays a prisoner's dilemma with each of the others, or with its neighbours in a network."""

    opponents: Literal["all", "neighbours"] = "all"
    """Who plays whom: everybody in a group, or those who are joined in the population's networks."""
    temptation: Points = 5.0
    """Points for defecting while the other cooperates."""
    reward: Points = 3.0
    """Points if both cooperate."""
    punishment: Points = 1.0
    """Points if both defect."""
    sucker: Points = 0.0
    """Points for cooperating while the other defects."""
    noise: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """Probability that a move comes out as the other one."""
    window: Annotated[int, Meta(ge=1)] = 10
    """Moves of a match that a language model is reminded of; policies see all."""
    label: str = ""
    """What players are called in the table; set it in slices, one a strategy, to compare their scores."""

    def problems(self, population_size: int) -> list[tuple[str, str, str]]:
        """Add what is no dilemma, or too large a tournament."""
        found = ScenarioSettings.problems(self, population_size)
        if not self.temptation > self.reward > self.punishment > self.sucker:
            order = f"temptation > reward ({self.reward:g}) > punishment > sucker"
            found.append(("temptation", f"{self.temptation:g}, which makes no dilemma", order))
        if self.opponents == "all" and population_size / self.groups > MAX_OPPONENTS + 1:
            what = f"all against all with {population_size} agents in {self.groups} groups"
            found.append(("opponents", what, f'groups of {MAX_OPPONENTS + 1} at most, or "neighbours"'))
        return found


class Seen(msgspec.Struct, frozen=True):
    """The others' moves of the last round, those against the first player first."""

    moves: bytes = b""
    starts: bytes = b""
    """Where each player's part of `moves` begins, int64, and where the last one ends."""

    def against(self, place: int) -> bytes:
        """Return the moves against one player, in the order of its opponents; b"" if nothing is known."""
        if not self.starts:
            return b""
        first, last = np.frombuffer(self.starts, dtype=np.int64, count=2, offset=8 * place).tolist()
        return self.moves[first:last]


class Played(NamedTuple):
    """What a player returns."""

    label: str
    score: float
    """Points before this round."""
    moves_before: int
    """Moves that earned them."""
    opponents: bytes
    """Their ids, int64, in ascending order."""
    moves: bytes


class Player(Agent):
    """Plays all its matches at once, each by itself."""

    __slots__ = ("mine", "opponents", "score", "scored", "theirs")

    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.opponents: list[int] | None = None
        self.mine: list[str] = []
        self.theirs: list[str] = []
        self.score = 0.0
        self.scored = 0

    async def step(self, seen: Seen) -> Played:
        """Move in every match."""
        game: PrisonersDilemma = self.world.scenario
        opponents = self._opponents(game)
        self._learn(game, seen.against(self.id - self.world.members.start))
        asked = [self._ask(game, *match) for match in zip(opponents, self.mine, self.theirs, strict=True)]
        words = await gather(*asked)
        moves = "".join(rules.C if word == rules.COOPERATE else rules.D for word in words)
        moves = self._disturbed(moves, game.settings.noise)
        self.mine = [past + move for past, move in zip(self.mine, moves, strict=True)]
        ids = np.array(opponents, dtype=np.int64).tobytes()
        return Played(game.settings.label, self.score, self.scored, ids, moves.encode())

    def _opponents(self, game: PrisonersDilemma) -> list[int]:
        if self.opponents is None:
            members = self.world.members
            known = members if game.settings.opponents == "all" else self.neighbours.tolist()
            self.opponents = [other for other in known if other != self.id and other in members]
            self.mine = [""] * len(self.opponents)
            self.theirs = [""] * len(self.opponents)
        return self.opponents

    def _learn(self, game: PrisonersDilemma, theirs: bytes) -> None:
        """Take the moves of the others in the last round; none if its own round failed."""
        if not theirs:
            return
        mine = "".join(past[-1] for past in self.mine).encode()
        earned, n = game.earned(mine, theirs)
        self.score += float(earned.sum())
        self.scored += n
        self.theirs = [past + move for past, move in zip(self.theirs, theirs.decode(), strict=True)]

    def _ask(self, game: PrisonersDilemma, opponent: int, mine: str, theirs: str) -> Any:
        text = rules.question(opponent - self.world.members.start + 1, mine, theirs, game.settings.window)
        persona = self.persona
        prompt = Prompt(self.world.shared, (said("user", f"{persona} {text}" if persona else text),))
        return self.model.chat(prompt, game.answer, facts={"mine": mine, "theirs": theirs})

    def _disturbed(self, moves: str, noise: float) -> str:
        if not noise:
            return moves
        flips = self.rng.random(len(moves)) < noise
        other = {rules.C: rules.D, rules.D: rules.C}
        return "".join(other[move] if flip else move for move, flip in zip(moves, flips, strict=True))


class Round(NamedTuple):
    """What the players of some workers returned, as columns; one row a player, or one a match."""

    labels: list[str]
    scores: NDArray[np.float64]
    """Points before the round."""
    moves_before: NDArray[np.int64]
    degrees: NDArray[np.int64]
    """Matches of each player."""
    ids: NDArray[np.int64]
    """Of each match, the player's id."""
    opponents: NDArray[np.int64]
    mine: rules.Moves

    def theirs(self) -> rules.Moves:
        """Return the opposite move of each match; matches are ordered by player and opponent."""
        width = int(max(self.ids.max(initial=0), self.opponents.max(initial=0))) + 1
        keys, wanted = self.ids * width + self.opponents, self.opponents * width + self.ids
        at = np.searchsorted(keys, wanted).clip(max=max(len(keys) - 1, 0))
        found: rules.Moves = np.where(keys[at] == wanted, self.mine[at], ord(rules.NO_MOVE)).astype(np.uint8)
        return found


class PrisonersDilemma(Scenario):
    """The tournament."""

    Settings = PrisonersDilemmaSettings
    Observation = Seen
    policies = rules.POLICIES
    policy_parameters = rules.POLICY_PARAMETERS
    settings: PrisonersDilemmaSettings

    def __init__(self, settings: PrisonersDilemmaSettings, n_agents: int, seed: int) -> None:
        super().__init__(settings, n_agents, seed)
        self.answer = Choice((rules.COOPERATE, rules.DEFECT))

    def agent(self, agent_id: int) -> Agent:
        """Make a player."""
        return Player(agent_id)

    def shared(self, group: int) -> tuple[Message, ...]:
        """Return the rules."""
        return (Message("system", rules.instructions(self.settings)),)

    def opening(self, group: int) -> Seen:
        """Nobody has moved yet."""
        return Seen()

    def earned(self, mine: bytes, theirs: bytes) -> tuple[NDArray[np.float64], int]:
        """Return the points of some moves, and how many of them met a move."""
        met = np.frombuffer(theirs, dtype=np.uint8)
        points = rules.points(np.frombuffer(mine, dtype=np.uint8), met, self.settings)
        return points, int((met != ord(rules.NO_MOVE)).sum())

    def tally(self, members: range, values: Sequence[Played | None]) -> tuple[Any, ...]:
        """Pack what the members returned as columns."""
        played = [value or Played("", 0.0, 0, b"", b"") for value in values]
        degrees = np.array([len(one.moves) for one in played], dtype=np.int64)
        return (
            [one.label for one in played] if any(one.label for one in played) else len(played),
            np.array([one.score for one in played]).tobytes(),
            np.array([one.moves_before for one in played], dtype=np.int64).tobytes(),
            degrees.tobytes(),
            np.repeat(np.array(members, dtype=np.int64), degrees).tobytes(),
            b"".join(one.opponents for one in played),
            b"".join(one.moves for one in played),
        )

    def conclude(self, round_: int, group: int, tallies: Sequence[Any]) -> Outcome:
        """Bring the moves of each match together, and count points."""
        played = _joined(tallies)
        theirs = played.theirs()
        earned = rules.points(played.mine, theirs, self.settings)
        stats: dict[str, Any] = {"matches": len(earned) // 2, "cooperation": None, "points a move": None}
        if len(earned):
            stats["cooperation"] = float((played.mine == ord(rules.C)).mean())
            stats["points a move"] = float(earned.mean())
        starts = np.concatenate([[0], np.cumsum(played.degrees)]).astype(np.int64)
        stats |= _scores(played, earned, theirs != ord(rules.NO_MOVE))
        return Outcome(stats, Seen(theirs.tobytes(), starts.tobytes()))


def _joined(tallies: Sequence[Any]) -> Round:
    labels, *packed = zip(*tallies, strict=True)
    types = (np.float64, np.int64, np.int64, np.int64, np.int64, np.uint8)
    columns = [np.frombuffer(b"".join(parts), dtype=of) for parts, of in zip(packed, types, strict=True)]
    names = [name for part in labels for name in (part if isinstance(part, list) else [""] * part)]
    return Round(names, *columns)


def _scores(played: Round, earned: NDArray[np.float64], met: NDArray[np.bool_]) -> dict[str, float]:
    """Return, for each label, the points a move since the beginning, all players of it together."""
    n = len(played.degrees)
    of = np.repeat(np.arange(n), played.degrees)
    points = played.scores + np.bincount(of, weights=earned, minlength=n)
    moves = played.moves_before + np.bincount(of, weights=met, minlength=n)
    names = np.array(played.labels)
    found = {}
    for name in sorted(set(played.labels) - {""}):
        total = float(moves[names == name].sum())
        if total:
            found[name] = float(points[names == name].sum()) / total
    return found

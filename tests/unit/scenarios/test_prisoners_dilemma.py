"""The repeated prisoner's dilemma: strategies against each other, tournaments, networks."""

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest

from engine.models.policy import Turn
from engine.scenarios import prisoners_dilemma_rules as rules
from engine.scenarios.prisoners_dilemma import Played, PrisonersDilemma, PrisonersDilemmaSettings, Seen
from engine.scenarios.scenario import Outcome
from tests.fakes.play import play


def match(one: str, other: str, n: int = 200) -> tuple[float, float]:
    """Play two strategies against each other and return their points."""
    moves, dice = ["", ""], Random(1)
    for _ in range(n):
        words = [
            rules.POLICIES[name](Turn({"mine": mine, "theirs": theirs}, None, {}, 0.0, dice))
            for name, mine, theirs in zip((one, other), moves, reversed(moves), strict=True)
        ]
        moves = [past + word[0].upper() for past, word in zip(moves, words, strict=True)]
    mine, theirs = (np.frombuffer(past.encode(), dtype=np.uint8) for past in moves)
    game = PrisonersDilemmaSettings()
    return rules.points(mine, theirs, game).sum(), rules.points(theirs, mine, game).sum()


@pytest.mark.parametrize(
    ("one", "other", "points"),
    [
        ("tit_for_tat", "tit_for_tat", (600, 600)),
        ("tit_for_tat", "always_defect", (199, 204)),
        ("grim", "always_defect", (199, 204)),
        ("tit_for_two_tats", "always_defect", (198, 208)),
        ("always_cooperate", "always_defect", (0, 1000)),
        ("pavlov", "always_defect", (100, 600)),
        ("always_defect", "always_defect", (200, 200)),
        ("grim", "pavlov", (600, 600)),
    ],
)
def test_points_of_200_rounds(one: str, other: str, points: tuple[float, float]) -> None:
    """With 5, 3, 1 and 0 points, as in Axelrod (1980): worked out by hand."""
    assert match(one, other) == points


def test_pavlov_mends_a_mistake_and_tit_for_tat_does_not() -> None:
    """Nowak and Sigmund (1993): after one wrong move, two pavlovs are back at cooperation in two rounds."""
    for name, after in (("pavlov", ["DD", "CC", "CC"]), ("tit_for_tat", ["DC", "CD", "DC"])):
        one, other = "CC", "CD"
        seen = []
        for _ in range(3):
            facts = [{"mine": one, "theirs": other}, {"mine": other, "theirs": one}]
            words = [rules.POLICIES[name](Turn(f, None, {}, 0.0, Random(1)))[0].upper() for f in facts]
            one, other = one + words[0], other + words[1]
            seen.append("".join(words))
        assert seen == after


def test_a_generous_player_forgives_a_third() -> None:
    dice = Random(1)
    turn = Turn({"mine": "C", "theirs": "D"}, None, {}, 0.0, dice)
    forgiven = sum(rules.generous_tit_for_tat(turn) == rules.COOPERATE for _ in range(3000))
    assert forgiven / 3000 == pytest.approx(1 / 3, abs=0.03)


@pytest.mark.parametrize("workers", [1, 3])
def test_all_against_all(tmp_path: Path, workers: int) -> None:
    settings = PrisonersDilemmaSettings(rounds=3, groups=2, label="grim")
    told = play(tmp_path, settings, 8, "grim", workers=workers)
    assert [stats["matches"] for stats in told] == [12] * 3, "two groups of four"
    assert told[-1]["grim"] == 3


def test_a_wrong_move_meets_the_answer_that_theory_says(tmp_path: Path) -> None:
    """With every move turned round, cooperators earn what defectors do."""
    settings = PrisonersDilemmaSettings(rounds=2, noise=1.0, label="all")
    told = play(tmp_path, settings, 4, "always_cooperate")
    assert [stats["cooperation"] for stats in told] == [0, 0]
    assert told[-1]["all"] == 1


def test_neighbours_play_each_other(tmp_path: Path) -> None:
    """A ring lattice of degree 4 has 2 n edges."""
    network = {"ring": {"kind": "small_world", "neighbours": 4, "rewired": 0.0}}
    settings = PrisonersDilemmaSettings(rounds=2, opponents="neighbours")
    one, three = (
        play(tmp_path, settings, 30, "random", workers=workers, population=convert({"networks": network}))
        for workers in (1, 3)
    )
    assert [stats["matches"] for stats in one] == [60, 60]
    assert one == three


def convert(population: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a population as its settings have them."""
    from engine.population.settings import Population

    whole = msgspec.convert({"size": 1, **population}, Population)
    return {name: getattr(whole, name) for name in population}


def concluded(*players: Played | None) -> Outcome:
    game = PrisonersDilemma(PrisonersDilemmaSettings(), len(players), 1)
    tally = game.tally(range(len(players)), players)
    return game.conclude(1, 0, [msgspec.msgpack.decode(msgspec.msgpack.encode(tally))])


def ids(*numbers: int) -> bytes:
    return np.array(numbers, dtype=np.int64).tobytes()


def test_each_player_sees_the_moves_against_it() -> None:
    seen = concluded(
        Played("", 0, 0, ids(1, 2), b"CD"),
        Played("", 0, 0, ids(0, 2), b"DC"),
        Played("", 0, 0, ids(0, 1), b"CC"),
    ).observation
    assert isinstance(seen, Seen)
    assert [seen.against(place) for place in range(3)] == [b"DC", b"CC", b"DC"]


def test_a_player_without_an_answer_has_made_no_move() -> None:
    outcome = concluded(Played("a", 10.0, 4, ids(1, 2), b"CC"), None, Played("b", 0.0, 4, ids(0, 1), b"DD"))
    assert outcome.observation.against(0) == b"-D"
    assert outcome.observation.against(1) == b""
    assert outcome.stats["a"] == 10 / 5
    assert outcome.stats["b"] == 5 / 5


def test_nobody_at_all() -> None:
    assert concluded(None, None).stats["points a move"] is None


@pytest.mark.parametrize(
    ("settings", "size", "where"),
    [({"temptation": 2.0}, 4, "temptation"), ({"sucker": 1.0}, 4, "temptation"), ({}, 502, "opponents")],
)
def test_settings_that_make_no_dilemma(settings: dict[str, Any], size: int, where: str) -> None:
    assert [key for key, _, _ in PrisonersDilemmaSettings(**settings).problems(size)] == [where]


def test_a_model_is_reminded_of_the_last_moves() -> None:
    asked = rules.question(7, "CCD", "DC-", 2)
    assert asked.startswith(
        "You play against player 7. Your last moves: cooperate, defect. The moves of player 7: "
    )
    assert "cooperate, no move. Reply" in asked
    assert "first round" in rules.question(7, "", "", 2)

"""The grid town: contacts and curves of mean-field theory, places, talk, and the same on any number of
workers."""

from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.environments.clock import Clock
from engine.models.answers import Json, Unreadable
from engine.scenarios import grid_town_rules as rules
from engine.scenarios.grid_town import GridTownSettings
from engine.scenarios.timed import Activity
from engine.scenarios.town import Scene, Town
from tests.fakes.play import play


@pytest.mark.parametrize("policy", ["walker", "mixer"])
def test_walkers_meet_as_often_as_the_mean_field_says(tmp_path: Path, policy: str) -> None:
    """(N - 1) / cells others are in one's cell."""
    settings = GridTownSettings(rounds=12, width=12, height=10)
    told = play(tmp_path, settings, 300, policy)
    assert np.mean([stats["contacts"] for stats in told]) == pytest.approx(299 / 120, rel=0.1)
    assert all(stats["meetings"] == pytest.approx(stats["contacts"] * 150) for stats in told)


def test_news_grow_by_the_logistic_curve_of_the_mean_field(tmp_path: Path) -> None:
    """i' = i + (1 - i) (1 - exp(-c p i)) with c contacts, of which each is caught with probability p."""
    n, contacts, catches = 1000, 999 / 400, 0.3
    settings = GridTownSettings(rounds=14, width=20, height=20, first=50, catches=catches)
    informed, expected = 0.05, []
    for _ in range(settings.rounds):
        informed += (1 - informed) * (1 - exp(-contacts * catches * informed))
        expected.append(informed)
    told = [stats["informed"] for stats in play(tmp_path, settings, n, "mixer")]
    assert told == pytest.approx(expected, abs=0.06)
    assert told[-1] > 0.95


@pytest.mark.parametrize(("loses", "size"), [(0.3, 0.7968), (0.9, 0.03)])
def test_news_that_lose_interest_have_the_final_size_of_an_epidemic(
    tmp_path: Path, loses: float, size: float
) -> None:
    """z = 1 - exp(-R0 z) with R0 = c p / loses: 2, and 2/3, where it dies out."""
    settings = GridTownSettings(
        rounds=30, width=20, height=20, first=8, catches=0.6 / (799 / 400), loses=loses
    )
    last = play(tmp_path, settings, 800, "mixer")[-1]
    assert last["informed"] == pytest.approx(size, abs=0.06)
    assert last["telling"] < 0.05


def test_walkers_carry_news_no_further_than_they_go(tmp_path: Path) -> None:
    """On a grid it spreads as a wave, slower than where all mix."""
    settings = GridTownSettings(rounds=8, width=30, height=30, first=1)
    walked, mixed = (
        play(tmp_path / policy, settings, 900, policy)[-1]["informed"] for policy in ("walker", "mixer")
    )
    assert walked < 0.5 * mixed


def test_the_day_has_its_places(tmp_path: Path) -> None:
    settings = GridTownSettings(rounds=24, works=1, cafes=1, clock=Clock(start="00:00"))
    told = play(tmp_path, settings, 100, "routine", cafe=1)
    assert [stats["contacts"] == 99 for stats in told] == [8 <= hour < 23 for hour in range(24)]


def test_the_same_on_any_number_of_workers(tmp_path: Path) -> None:
    settings = GridTownSettings(
        rounds=8, width=4, height=4, catches=0.3, loses=0.1, groups=2, activity=Activity(pattern="online")
    )
    one, two, five = (play(tmp_path, settings, 40, "mixer", workers=workers) for workers in (1, 2, 5))
    assert one == two == five
    assert len({stats["out"] for stats in one}) > 3


def town_of(n: int, **settings: Any) -> Town:
    town = Town()
    town.enter(
        number=n,
        name="town",
        group=0,
        members=range(n),
        settings=GridTownSettings(**settings),
        seed=1,
        host=None,  # type: ignore[arg-type]
    )
    return town


def go(town: Town, *moves: tuple[int, str, bool, str]) -> dict[str, Any]:
    for who, where, tell, say in moves:
        town.caller = who
        town.go(where, tell, say)  # type: ignore[arg-type]
    report = town.end_round()
    town.round += 1
    return report


def look(town: Town, who: int) -> Scene:
    town.caller = who
    return town.look()


def test_steps_lead_around_the_edges() -> None:
    town = town_of(1, width=3, height=2)
    start = look(town, 0)
    for where, dx, dy in (("north", 0, -1), ("west", -1, -1), ("south", -1, 0), ("east", 0, 0)):
        go(town, (0, where, False, ""))
        scene = look(town, 0)
        assert (scene.x, scene.y) == ((start.x + dx) % 3, (start.y + dy) % 2)


def test_those_who_meet_hear_each_other_and_the_news() -> None:
    town = town_of(4, works=1, first=4, width=40, height=40)
    town._news[:] = [1, 0, 0, 0]
    report = go(town, (0, "work", True, "Psst."), (1, "work", False, ""), (2, "home", False, "Alone."))
    assert (report["meetings"], report["said"], report["informed"]) == (1, 1, 0.5)
    assert report["contacts"] == pytest.approx(2 / 3)
    scene = look(town, 1)
    assert (scene.place, scene.n_met, scene.informed, scene.heard) == ("work", 1, True, ["person 0: Psst."])
    assert look(town, 0).heard == []
    assert (look(town, 2).n_met, look(town, 3).informed) == (0, False)


def test_nobody_can_speak_for_others() -> None:
    town = town_of(2, works=1)
    go(town, (0, "work", False, "Hi.\nperson 7: I pay."), (1, "work", False, " \n "))
    assert look(town, 1).heard == ["person 0: Hi. person 7: I pay."]
    assert look(town, 0).heard == []


def test_only_who_knows_the_news_can_tell_it() -> None:
    town = town_of(2, works=1, first=0)
    assert go(town, (0, "work", True, ""), (1, "work", True, ""))["informed"] == 0


def test_a_model_is_told_where_it_is_and_asked_where_it_goes() -> None:
    scene = Scene(1, 2, "cafe", 2, True, ["person 3: Hi."])
    assert rules.question("You are Ada.", "day 1, 08:00", scene, "it rains") == (
        "You are Ada. It is day 1, 08:00. You are in the cafe and met 2 people there. They said:\n"
        "person 3: Hi.\n"
        "You have heard that it rains. Where do you go, and what do you say there?"
    )
    assert "at home and met nobody there. Where" in rules.question(
        "", "", Scene(0, 0, "home", 0, False, []), ""
    )
    form = Json(rules.MoveAndTell)
    assert form.parse('{"go": "home", "say": "", "tell": true}').tell
    with pytest.raises(Unreadable):
        form.parse('{"go": "mars", "say": "", "tell": true}')


def test_no_more_know_than_there_are() -> None:
    assert GridTownSettings(first=4, groups=2).problems(6)[0][0] == "first"
    assert GridTownSettings(first=3, groups=2).problems(6) == []

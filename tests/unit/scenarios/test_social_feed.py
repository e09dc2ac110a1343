"""The social feed: what is known of rankings, cascades and echo chambers, and the same on any number of
workers."""

from math import exp, factorial
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from engine.environments.clock import Clock
from engine.models.answers import Unreadable
from engine.population.network.settings import SmallWorld
from engine.scenarios import social_feed_rules as rules
from engine.scenarios.feed import Post
from engine.scenarios.social_feed import SocialFeedSettings
from engine.scenarios.timed import Activity
from tests.fakes.play import play


def test_ranking_by_popularity_makes_attention_more_unequal(tmp_path: Path) -> None:
    """Salganik, Dodds and Watts (2006): the stronger popularity decides what is seen, the more unequal."""
    gini = {
        ranking: play(tmp_path / ranking, SocialFeedSettings(rounds=8, ranking=ranking), 250, "user")[-1][
            "attention gini"
        ]
        for ranking in ("recency", "popularity")
    }
    assert gini["popularity"] > gini["recency"] + 0.1


def borel(mean: float, n: int) -> float:
    """Probability that a branching process with so many offspring, Poisson distributed, has n in all."""
    return exp(-mean * n) * (mean * n) ** (n - 1) / factorial(n)


@pytest.mark.parametrize("large", [2, 5])
def test_cascades_branch_as_they_should(tmp_path: Path, large: int) -> None:
    """Every repost has 10 followers, of whom one in 20 reposts: sizes as Borel (1942) says."""
    settings = SocialFeedSettings(rounds=12, follows=10, discovery=0, length=50, window=20, large=large)
    told = play(tmp_path, settings, 800, "user", post=0.05, repost=0.05, taste=0, follow=0, mute=0, like=0)
    made = [12 - round_ for round_ in range(1, 12)]
    expected = sum((1 - 0.5 ** (generations + 1)) / 0.5 for generations in made) / len(made)
    assert told[-1]["cascade"] == pytest.approx(expected, abs=0.25)
    share = 1 - sum(borel(0.5, n) for n in range(1, large))
    assert told[-1]["large cascades"] == pytest.approx(share, abs=0.05)


def agreement(directory: Path, *, discovery: int = 2, ranking: str = "recency", **parameters: float) -> float:
    settings: Any = SocialFeedSettings(rounds=12, ranking=ranking, discovery=discovery)
    told = play(directory, settings, 300, "user", post=0.3, **parameters)
    return fmean(stats["agreement"] for stats in told[-3:])


def test_who_mutes_those_who_disagree_ends_among_those_who_agree(tmp_path: Path) -> None:
    """Sasahara et al. (2021): by unfollowing, echo chambers come about; without taste there are none."""
    blind = agreement(tmp_path / "blind", taste=0, mute=0)
    picky = agreement(tmp_path / "picky", mute=1, follow=0.5)
    alike = agreement(tmp_path / "alike", discovery=10, ranking="similarity", taste=0, mute=0)
    assert blind == pytest.approx(0.5, abs=0.05)
    assert picky > blind + 0.07
    assert alike > blind + 0.2


def test_the_same_on_any_number_of_workers(tmp_path: Path) -> None:
    settings = SocialFeedSettings(
        rounds=5, ranking="popularity", clock=Clock(start="20:00"), activity=Activity(pattern="online")
    )
    population = {"networks": {"friends": SmallWorld(neighbours=4, rewired=0.1)}}
    one, two, five = (
        play(tmp_path, settings, 60, "user", workers=workers, population=population, post=0.3)
        for workers in (1, 2, 5)
    )
    assert one == two == five
    assert {stats["active"] for stats in one} <= set(range(60))
    assert one[0]["time"] == "day 1, 20:00"
    assert one[-1]["seen"]


def test_groups_have_feeds_of_their_own(tmp_path: Path) -> None:
    told = play(tmp_path, SocialFeedSettings(rounds=3, groups=3), 30, "user", post=0.5)
    assert [stats["active"] for stats in told] == [30, 30, 30]


def test_a_model_sees_the_posts_and_answers_by_their_numbers() -> None:
    posts = [Post(7, 3, 0.5, 2, 1, True, "Trams!"), Post(9, 4, -0.5, 0, 0, False, "Cars!")]
    asked = rules.question("You are Ada.", 0.9, "day 1, 08:00", posts)
    assert asked == (
        "You are Ada. You are strongly for it. It is day 1, 08:00. You see these posts:\n"
        "1. user 3 (2 likes, 1 reposts): Trams!\n"
        "2. user 4 (0 likes, 0 reposts): Cars!\n"
        "What do you do?"
    )
    form = rules.answer(2, 10)
    reply = form.parse('{"like": [2], "repost": [], "follow": [], "mute": [1], "post": "Why?"}')
    assert (reply.like, reply.mute, reply.post) == ([2], [1], "Why?")
    for wrong in ('{"like": [3]', '{"like": [0]', '{"like": [1, 1, 1]', '{"like": "1"'):
        with pytest.raises(Unreadable):
            form.parse(wrong + ', "repost": [], "follow": [], "mute": [], "post": ""}')
    with pytest.raises(Unreadable):
        form.parse('{"like": [], "repost": [], "follow": [], "mute": [], "post": "far too long"}')
    with pytest.raises(Unreadable):
        rules.answer(0, 10).parse('{"post": "", "mood": "good"}')
    assert rules.answer(0, 10).parse('{"post": ""}').like == []


@pytest.mark.parametrize(
    ("leaning", "words"), [(-1.0, "strongly against"), (0.0, "undecided"), (0.999, "strongly for")]
)
def test_leanings_have_words(leaning: float, words: str) -> None:
    assert words in rules.view(leaning)

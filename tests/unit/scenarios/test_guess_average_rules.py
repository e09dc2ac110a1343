"""The published closed forms of the guessing game, and the texts that players read."""

import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.answers import Number
from engine.models.policy import PolicyBackend
from engine.models.protocol import Catalogue, Finish, Request, Result
from engine.models.settings import Policy
from engine.scenarios import guess_average_rules as rules
from engine.scenarios.guess_average import GuessAverage, GuessAverageSettings
from tests.fakes.model_calls import calls, user

TWO_THIRDS = 2 / 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2/3", TWO_THIRDS),
        (" 1 / 2 ", 0.5),
        ("0.7", 0.7),
        ("1.5/3", 0.5),
        ("4/3", 4 / 3),
        ("0", 0),
        (0.9, 0.9),
        (1, 1),
    ],
)
def test_a_ratio_is_a_number_or_a_fraction(text: Any, value: float) -> None:
    assert rules.fraction(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "half", "2/0", "-1/2", "1/2/3", "2/", "/3", "1e3", "2/3.5", "9" * 99, "٢/٣"]
)
def test_other_texts_are_no_ratio(text: str) -> None:
    assert rules.fraction(text) is None


# closed forms


def test_level_k_choices_are_nagels() -> None:
    choices = [rules.level_k(level, 50, TWO_THIRDS) for level in range(5)]
    assert choices == pytest.approx([50, 33.33, 22.22, 14.81, 9.88], abs=0.01)


def test_level_k_of_the_shifted_game_converges_to_its_equilibrium() -> None:
    choices = [rules.level_k(level, 50, 0.5, 5) for level in (0, 1, 2, 3, 40)]
    assert choices == pytest.approx([50, 30, 20, 15, 10])


def test_cognitive_hierarchy_choices_and_shares_at_tau_1_5() -> None:
    choices = rules.cognitive_hierarchy(1.5, 50, TWO_THIRDS)
    assert choices[:5] == pytest.approx([50, 33.3, 26.7, 23.9, 22.8], abs=0.05)
    assert rules.poisson(1.5)[:5] == pytest.approx([0.223, 0.335, 0.251, 0.126, 0.047], abs=0.0005)


@pytest.mark.parametrize(
    ("tau", "mean"),
    [(1.0, 37.8), (1.1, 36.9), (1.5, 33.5), (1.61, 32.6), (2.3, 27.8), (3.0, 23.8), (3.7, 20.4)],
)
def test_cognitive_hierarchy_means(tau: float, mean: float) -> None:
    shares, choices = rules.poisson(tau), rules.cognitive_hierarchy(tau, 50, TWO_THIRDS)
    assert sum(shares) == pytest.approx(1, abs=1e-9)
    assert sum(f * x for f, x in zip(shares, choices, strict=True)) == pytest.approx(mean, abs=0.05)


@pytest.mark.parametrize(
    ("ratio", "offset", "equilibrium"),
    [
        (TWO_THIRDS, 0, 0),
        (0.5, 5, 10),
        (0.5, 60, 100),
        (0, 20, 20),
        (4 / 3, 0, 100),
        (1.1, -50, 0),
        (1, 1, 100),
        (1, -1, 0),
        (1, 0, 50),
    ],
)
def test_nash_is_where_best_responses_end(ratio: float, offset: float, equilibrium: float) -> None:
    assert rules.nash(ratio, offset, 0, 100) == pytest.approx(equilibrium)
    choice = 50.0
    for _ in range(2_000):
        choice = min(max(offset + ratio * choice, 0), 100)
    assert choice == pytest.approx(equilibrium, abs=1e-6)


# the same as players


def play(
    policy: str,
    n: int,
    *,
    average: float | None = None,
    game: dict[str, Any] | None = None,
    **parameters: float,
) -> list[float]:
    """Return what n scripted players say."""
    settings = GuessAverageSettings(**{"decimals": 2, **(game or {})})
    catalogue = Catalogue()
    answer = Number(settings.low, settings.high, settings.decimals)
    facts = {"round": 1, "text": "", "average": average}
    requests = [
        Request(r.key, r.prefix, r.form, r.tail, facts) for r in calls(catalogue, answer, [user("?")] * n)
    ]
    backend = PolicyBackend(
        Policy(policy=policy, parameters=parameters), catalogue, GuessAverage.policies, settings, 1
    )
    got: list[Result] = []
    backend.submit(requests, got.extend)
    assert {result.finish for result in got} == {Finish.STOP}
    return [answer.parse(result.text) for result in got]


@pytest.mark.parametrize(("level", "choice"), [(1, 33.33), (2, 22.22), (3, 14.81)])
def test_level_k_players(level: int, choice: float) -> None:
    assert play("level_k", 3, level=level) == [choice] * 3


def test_level_0_players_are_uniform() -> None:
    said = play("level_k", 4_000, level=0)
    assert statistics.mean(said) == pytest.approx(50, abs=2)
    assert min(said) < 1
    assert max(said) > 99


@pytest.mark.parametrize("average", [10.0, 50.0, 80.0])
def test_level_0_players_have_the_last_average_as_their_mean(average: float) -> None:
    said = play("level_k", 4_000, average=average, level=0)
    assert statistics.mean(said) == pytest.approx(average, abs=2)


def test_later_rounds_start_from_the_last_average() -> None:
    assert play("level_k", 1, average=30.0, level=1) == [20.0]


@pytest.mark.parametrize(("tau", "mean"), [(1.0, 37.8), (1.5, 33.5), (3.0, 23.8)])
def test_a_population_of_cognitive_hierarchy_players_has_the_published_mean(tau: float, mean: float) -> None:
    assert statistics.mean(play("cognitive_hierarchy", 5_000, tau=tau)) == pytest.approx(mean, abs=0.7)


def test_levels_come_in_poisson_shares() -> None:
    said = play("cognitive_hierarchy", 5_000, tau=1.5)
    choices = rules.cognitive_hierarchy(1.5, 50, TWO_THIRDS)
    for level, share in enumerate((0.335, 0.251, 0.126, 0.047), start=1):
        near = sum(x == round(choices[level], 2) for x in said) / len(said)
        assert near == pytest.approx(share, abs=0.015)


def test_nash_and_random_players() -> None:
    assert play("nash", 2) == [0, 0]
    assert play("nash", 2, game={"ratio": "1/2", "offset": 5.0}) == [10, 10]
    said = play("random", 4_000)
    assert statistics.mean(said) == pytest.approx(50, abs=2)
    assert statistics.stdev(said) == pytest.approx(100 / 12**0.5, abs=1)


@pytest.mark.parametrize("policy", sorted(GuessAverage.policies))
@pytest.mark.parametrize(
    "game", [{"low": -3.5, "high": 2.5, "decimals": 0}, {"ratio": "4/3"}, {"ratio": 0.0}, {"offset": 500.0}]
)
@pytest.mark.parametrize("average", [None, 0.0, 2.4])
def test_scripted_players_keep_to_the_rules(policy: str, game: dict[str, Any], average: float | None) -> None:
    play(policy, 50, average=average, game=game)  # would not parse otherwise


@pytest.mark.parametrize(
    ("policy", "parameters"), [("level_k", {"level": 10**6}), ("cognitive_hierarchy", {"tau": 50.0})]
)
def test_large_parameters_are_bearable(policy: str, parameters: dict[str, float]) -> None:
    assert play(policy, 1, **parameters)[0] < 25


# statistics


@given(st.lists(st.integers(0, 100), min_size=1, max_size=50))
def test_statistics_are_those_of_the_standard_library(numbers: list[int]) -> None:
    found = rules.describe(np.array([*map(float, numbers), np.nan]), 0)
    assert found["mean"] == pytest.approx(statistics.fmean(numbers))
    assert found["median"] == statistics.median(numbers)
    assert found["sd"] == pytest.approx(statistics.pstdev(numbers))
    assert found["mode"] == min(statistics.multimode(numbers))


def test_statistics_of_nothing() -> None:
    found = rules.describe(np.array([np.nan]), 0)
    assert found == {"mean": None, "median": None, "sd": None, "mode": None}


# texts


def test_instructions_state_the_game() -> None:
    settings = GuessAverageSettings(ratio="1/2", offset=5.0, high=1_000_000.0)
    text = rules.instructions(settings, 12)
    for fact in (
        "12 players",
        "whole number",
        "from 0 to 1000000",
        "1/2 of the average",
        "plus 5",
        "number alone",
    ):
        assert fact in text
    assert "ANSWER:" not in text


def test_instructions_of_other_games() -> None:
    text = rules.instructions(GuessAverageSettings(ratio=0.7, offset=-2.0, decimals=2), 3)
    assert "0.7 of the average of all the numbers named minus 2." in text
    assert "at most 2 decimals" in text


@pytest.mark.parametrize(
    ("prompt", "rational", "others", "thinks"),
    [
        ("direct", False, False, False),
        ("think", False, False, True),
        ("rational", True, False, True),
        ("strategic", True, True, True),
    ],
)
def test_prompt_variants(prompt: Any, rational: bool, others: bool, thinks: bool) -> None:
    text = rules.instructions(GuessAverageSettings(prompt=prompt), 3)
    assert ("rational" in text) == rational
    assert ("The others, too" in text) == others
    assert ("ANSWER:" in text) == thinks


@pytest.mark.parametrize(
    ("announce", "text"),
    [
        ("target", "In round 2 the average was 30.13 and the target 20.08. "),
        ("average", "In round 2 the average was 30.13. "),
        ("winners", "In round 2 the winning number was 19 and 21. "),
        ("nothing", ""),
    ],
)
def test_announcements(announce: Any, text: str) -> None:
    settings = GuessAverageSettings(announce=announce)
    assert rules.announcement(settings, 2, 30.125001, 20.083, ["19", "21"]) == text


@pytest.mark.parametrize("guess", [0.1, 33.33, 66.67, 1 / 3])
def test_equal_guesses_have_no_deviation(guess: float) -> None:
    assert rules.describe(np.full(97, guess), 2)["sd"] == 0

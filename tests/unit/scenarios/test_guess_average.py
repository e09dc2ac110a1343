"""The guessing game as a scenario: what players are asked, and what is made of their answers."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agents.agent import Agent
from engine.cluster.placement import split
from engine.scenarios.guess_average import GuessAverage, GuessAverageSettings, Player, RoundStart
from engine.scenarios.scenario import Outcome
from tests.fakes.model_bench import Bench


def game(n_agents: int = 4, **settings: Any) -> GuessAverage:
    return GuessAverage(GuessAverageSettings(**settings), n_agents, 1)


def concluded(guesses: Sequence[float | None], parts: int = 1, **settings: Any) -> Outcome:
    """Play one group's guesses through the wire, from so many workers."""
    played = game(len(guesses), **settings)
    tallies = []
    for members in split(range(len(guesses)), parts):
        tally = played.tally(members, guesses[members.start : members.stop])
        tallies.append(msgspec.msgpack.decode(msgspec.msgpack.encode(tally)))
    return played.conclude(1, 0, tallies)


def test_a_round_ends_with_its_statistics_target_and_winners() -> None:
    outcome = concluded([0, 30, 30, 60, 90])
    assert outcome.stats == {
        "mean": 42.0,
        "median": 30.0,
        "sd": pytest.approx(30.594, abs=1e-3),
        "mode": 30.0,
        "target": pytest.approx(28.0),
        "winning number": "30",
        "winners": 2,
        "winning agents": "1, 2",
    }
    assert sum(outcome.histogram) == 5
    assert (outcome.low, outcome.high) == (0, 100)
    assert outcome.observation.average == 42.0
    assert outcome.observation.round == 2


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 100).map(float)), min_size=1, max_size=30), st.integers(1, 7)
)
def test_the_outcome_does_not_depend_on_how_the_group_is_spread(
    guesses: list[float | None], parts: int
) -> None:
    assert concluded(guesses, min(parts, len(guesses))) == concluded(guesses)


def test_who_gave_no_answer_counts_for_nothing() -> None:
    outcome = concluded([None, 30, None, 60])
    assert outcome.stats["mean"] == 45
    assert outcome.stats["winning agents"] == "1"
    assert sum(outcome.histogram) == 2


def test_a_round_without_answers_goes_on() -> None:
    outcome = concluded([None, None])
    assert outcome.stats["mean"] is None
    assert outcome.observation == RoundStart(2, "Nobody named a number. ")
    assert sum(outcome.histogram) == 0


def test_winners_on_both_sides_of_the_target() -> None:
    outcome = concluded([20, 40, 30, 30], ratio=1.0, offset=5.0, decimals=0)
    assert outcome.stats["target"] == 35
    assert outcome.stats["winning number"] == "30 and 40"
    assert outcome.stats["winning agents"] == "1, 2, 3"


def test_many_winners_are_counted_not_listed() -> None:
    outcome = concluded([5.0] * 100)
    assert outcome.stats["winners"] == 100
    assert outcome.stats["winning agents"] == "0, 1, 2, 3, 4, ..."


def test_players_of_a_later_group_keep_their_numbers() -> None:
    played = game(10, groups=2)
    tally = played.tally(range(5, 10), [50, 1, 50, 50, 50])
    assert played.conclude(1, 1, [tally]).stats["winning agents"] == "5, 7, 8, 9"


def test_the_shifted_game() -> None:
    outcome = concluded([10, 10, 10], ratio="1/2", offset=5.0)
    assert outcome.stats["target"] == 10
    assert outcome.stats["winners"] == 3


def test_all_groups_together_have_no_target() -> None:
    played = game(4, groups=2)
    outcome = played.overall(1, [played.tally(range(2), [0, 100]), played.tally(range(2, 4), [50, 50])])
    assert outcome.stats == {"mean": 50, "median": 50, "sd": pytest.approx(35.355, abs=1e-3), "mode": 50}
    assert sum(outcome.histogram) == 4


# what players are told


def test_group_sizes_in_the_rules_are_the_real_ones() -> None:
    played = game(11, groups=3)
    told = [played.shared(group)[0].content for group in range(3)]
    for text, members in zip(told, split(range(11), 3), strict=True):
        assert f"a game with {len(members)} players" in text


@pytest.mark.parametrize("announce", ["target", "average"])
def test_players_and_policies_learn_the_average(announce: Any) -> None:
    observation = concluded([30, 60], announce=announce).observation
    assert "the average was 45.00" in observation.text
    assert observation.average == 45


@pytest.mark.parametrize("announce", ["winners", "nothing"])
def test_policies_know_no_more_than_players_are_told(announce: Any) -> None:
    observation = concluded([30, 60], announce=announce).observation
    assert "average" not in observation.text
    assert observation.average is None


def test_a_question_tells_the_round_and_what_has_been() -> None:
    assert game().question(RoundStart(1)) == "Round 1 of 5: which number do you choose?"
    later = RoundStart(2, "In round 1 the average was 3.00. ")
    assert game().question(later) == (
        "In round 1 the average was 3.00. Round 2 of 5: which number do you choose?"
    )


@pytest.mark.parametrize(
    ("numbers", "persona", "told"),
    [
        (True, "", "You are player 7. "),
        (True, "You are a nurse.", "You are player 7. You are a nurse. "),
        (False, "You are a nurse.", "You are a nurse. "),
        (False, "", ""),
    ],
)
def test_players_are_told_who_they_are(numbers: bool, persona: str, told: str) -> None:
    assert game(player_numbers=numbers).introduction(6, persona) == told


# a player's turn


def playing(played: GuessAverage, *observations: RoundStart) -> tuple[Bench, Any]:
    """Return a bench with the game, and a script that plays the rounds one after the other."""
    bench = Bench(retries=1)

    async def script(agent: Agent) -> list[float]:
        player = Player(agent.id)
        player.world = agent.world
        agent.world.scenario = played
        agent.world.shared = played.shared(0)
        return [await player.step(observation) for observation in observations]

    return bench, script


def test_a_turn_of_one_call_and_the_memory_of_it() -> None:
    bench, script = playing(game(), RoundStart(1), RoundStart(2, "The average was 40. ", 40.0))
    bench.begin(script)
    [first] = bench.reply("50")
    [second] = bench.reply("33")
    assert bench.endings.values == {0: [50, 33]}
    assert [role for role, _ in bench.conversation(first)] == ["system", "user"]
    assert bench.conversation(second)[1:] == [
        ("user", "You are player 1. Round 1 of 5: which number do you choose?"),
        ("assistant", "50"),
        ("user", "The average was 40. Round 2 of 5: which number do you choose?"),
    ]
    assert second.facts == {"round": 2, "text": "The average was 40. ", "average": 40.0}


def test_a_turn_of_two_calls() -> None:
    bench, script = playing(game(calls=2, prompt="think"), RoundStart(1))
    bench.begin(script)
    [first] = bench.reply("They will say 33, so I say 22. ANSWER: 22")
    [second] = bench.reply("22")
    assert bench.endings.values == {0: [22]}
    assert "max_chars" in type(bench.catalogue.forms[first.form].answer).__struct_fields__
    assert bench.conversation(second)[-2:] == [
        ("assistant", "They will say 33, so I say 22. ANSWER: 22"),
        ("user", "Now state the number that you chose, and nothing else."),
    ]


def test_reasoning_and_the_number_in_one_call() -> None:
    bench, script = playing(game(prompt="rational"), RoundStart(1))
    bench.begin(script)
    bench.reply("All know that. ANSWER: 0")
    assert bench.endings.values == {0: [0]}


@pytest.mark.parametrize("value", [0, 100, 33.3, np.float64(7)])
def test_acceptable_guesses(value: Any) -> None:
    assert game().accept(value) is None


@pytest.mark.parametrize("value", [-1, 101, float("nan"), "50", None, True, [50], object()])
def test_other_values_are_refused_with_a_reason(value: Any) -> None:
    assert "a guess has to be" in str(game().accept(value))


# settings


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"ratio": "two thirds"}, "ratio"),
        ({"low": 5.0, "high": 5.0}, "low"),
        ({"low": 0.2, "high": 0.8}, "decimals"),
        ({"groups": 11}, "groups"),
    ],
)
def test_settings_that_make_no_game(settings: dict[str, Any], where: str) -> None:
    assert [key for key, _, _ in GuessAverageSettings(**settings).problems(10)] == [where]


def test_settings_that_make_one() -> None:
    assert GuessAverageSettings(low=0.2, high=0.8, decimals=1, groups=10, ratio="4/3").problems(10) == []

"""Opinion dynamics: who hears whom, and how many opinions are left in the end."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.agents.agent import Agent
from engine.population.network.settings import SmallWorld
from engine.scenarios.contacts import partner
from engine.scenarios.opinions import Opinions, OpinionsSettings, clusters
from tests.fakes.play import play

RING = {"networks": {"ring": SmallWorld(neighbours=4, rewired=0.0)}}


def settings(rounds: int, **more: Any) -> OpinionsSettings:
    return OpinionsSettings(rounds=rounds, high=1.0, decimals=6, **more)


@pytest.mark.parametrize(("epsilon", "least", "most"), [(0.25, 1, 1), (0.08, 3, 8)])
def test_hegselmann_krause(tmp_path: Path, epsilon: float, least: int, most: int) -> None:
    """Consensus from about 0.2 on, several opinions below (Hegselmann and Krause 2002)."""
    told = play(tmp_path, settings(15), 120, "hegselmann_krause", epsilon=epsilon)
    assert least <= told[-1]["clusters"] <= most
    assert told[-1]["sd"] == pytest.approx(told[-2]["sd"], abs=1e-3), "it has settled"


@pytest.mark.parametrize(("epsilon", "least", "most"), [(0.5, 1, 1), (0.2, 2, 3), (0.1, 4, 7)])
def test_deffuant_leaves_one_opinion_for_two_epsilon(
    tmp_path: Path, epsilon: float, least: int, most: int
) -> None:
    """About 1 / (2 epsilon) of them, and consensus from 0.5 on (Deffuant et al. 2000)."""
    told = play(tmp_path, settings(40, hears="one"), 200, "deffuant", epsilon=epsilon)
    assert least <= told[-1]["clusters"] <= most
    assert told[-1]["mean"] == pytest.approx(told[0]["mean"], abs=1e-5), "two who meet move alike"


def test_de_groot_comes_to_the_mean_on_a_regular_network(tmp_path: Path) -> None:
    one, three = (
        play(tmp_path, settings(25), 12, "de_groot", workers=workers, population=RING) for workers in (1, 3)
    )
    assert one == three
    assert one[-1]["mean"] == pytest.approx(one[0]["mean"], abs=1e-4)
    assert one[-1]["sd"] < one[0]["sd"] / 100


def meeting(n: int, round_: int, neighbours: dict[int, list[int]] | None, start: int = 0) -> list[int | None]:
    """Return whom each of n members meets."""
    people = None
    if neighbours is not None:
        people = SimpleNamespace(
            graph=True, neighbours=lambda agent: np.array(neighbours[agent], dtype=np.int32)
        )
    world = SimpleNamespace(people=people, members=range(start, start + n), seed=7, group=0, round=round_)
    agents = [Agent(agent) for agent in world.members]
    for agent in agents:
        agent.world = world  # type: ignore[assignment]
    return [partner(agent) for agent in agents]


@pytest.mark.parametrize("n", [1, 2, 7, 10])
@pytest.mark.parametrize("on_ring", [True, False])
def test_who_is_met_meets_back(n: int, on_ring: bool) -> None:
    ring = {place: [(place - 1) % n, (place + 1) % n] for place in range(n)} if on_ring and n > 2 else None
    seen = set()
    for round_ in range(1, 40):
        met = meeting(n, round_, ring)
        for place, other in enumerate(met):
            assert other is None or (met[other] == place and other != place)
            if other is not None:
                seen.add((place, other))
        if ring is None:
            assert met.count(None) == n % 2
    assert len(seen) == (2 * n if ring else n * (n - 1))


def test_neighbours_of_other_groups_are_not_met() -> None:
    assert meeting(2, 1, {5: [4, 9], 6: []}, start=5) == [None, None]


def test_clusters_are_parted_by_gaps() -> None:
    assert clusters(np.array([0.1, 0.12, 0.5, 0.9, 0.88]), 0.1) == 3
    assert clusters(np.array([*[0.1] * 500, *[0.9] * 500, 0.5]), 0.1) == 2, "one of a thousand is no cluster"
    assert clusters(np.array([]), 0.1) == 0


def test_who_did_not_answer_is_not_heard() -> None:
    game = Opinions(OpinionsSettings(), 3, 1)
    outcome = game.conclude(1, 0, [game.tally(range(3), [10.0, None, 30.0])])
    assert (outcome.stats["mean"], outcome.stats["clusters"]) == (20, 2)
    assert np.isnan(np.frombuffer(outcome.observation.opinions)[1])


def test_what_a_person_is_asked() -> None:
    game = Opinions(OpinionsSettings(topic="Tea is good."), 3, 1)
    assert game.question(None, []) == "What is your opinion?"
    assert "Your opinion is 40. You have heard these of others: 10, 99." in game.question(40.0, [10.0, 99.0])
    assert "Tea is good." in game.shared(0)[0].content

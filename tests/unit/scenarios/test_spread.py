"""Spreading: final sizes, thresholds, and who is asked."""

from pathlib import Path

import pytest

from engine.population.network.settings import SmallWorld
from engine.scenarios.spread import Spread, SpreadSettings
from tests.fakes.play import play

RING = {"networks": {"ring": SmallWorld(neighbours=2, rewired=0.0)}}


@pytest.mark.parametrize(("beta", "size"), [(1.5, 0.5828), (2.0, 0.7968), (3.0, 0.9405)])
def test_an_epidemic_reaches_its_final_size(tmp_path: Path, beta: float, size: float) -> None:
    """z = 1 - exp(-R0 z), Kermack and McKendrick (1927); the seeds add a little."""
    told = play(tmp_path, SpreadSettings(rounds=20, first=20), 1500, "sir", beta=beta, gamma=1.0)
    assert told[-1]["reached"] == pytest.approx(size, abs=0.05)
    assert told[-1]["spreading"] <= 5


def test_below_one_it_dies_out(tmp_path: Path) -> None:
    told = play(tmp_path, SpreadSettings(rounds=20, first=5), 1000, "sir", beta=0.6, gamma=1.0)
    assert told[-1]["spreading"] == 0
    assert told[-1]["reached"] < 0.06


def test_stopping_later_reaches_as_many_as_catching_more(tmp_path: Path) -> None:
    """The final size depends on beta / gamma alone."""
    told = play(tmp_path, SpreadSettings(rounds=40, first=20), 800, "sir", beta=1.0, gamma=0.5)
    assert told[-1]["reached"] == pytest.approx(0.7968, abs=0.06)


@pytest.mark.parametrize(("missing", "joined"), [(-1, 40), (1, 1), (20, 20)])
def test_a_crowd_of_thresholds(tmp_path: Path, missing: int, joined: int) -> None:
    """Granovetter (1978): thresholds 0, 1, 2 ... and all join; without the one of 1, one alone does."""
    settings = SpreadSettings(rounds=45, first=0, stops=False)
    told = play(tmp_path, settings, 40, "granovetter", missing=missing)
    assert told[-1]["spreading"] == joined


@pytest.mark.parametrize(("theta", "spreads"), [(0.5, True), (0.51, False)])
def test_a_ring_is_taken_if_one_of_two_neighbours_is_enough(
    tmp_path: Path, theta: float, spreads: bool
) -> None:
    settings = SpreadSettings(rounds=12, first=1, stops=False)
    told = play(tmp_path, settings, 20, "threshold", population=RING, threshold=theta)
    counts = [stats["spreading"] for stats in told]
    assert counts == ([min(1 + 2 * n, 20) for n in range(12)] if spreads else [1] * 12)


def test_the_same_on_any_number_of_workers(tmp_path: Path) -> None:
    settings = SpreadSettings(rounds=6, first=3, groups=2)
    one, three = (play(tmp_path, settings, 30, "sir", workers=workers, beta=1.5) for workers in (1, 3))
    assert one == three


def test_states_are_counted() -> None:
    game = Spread(SpreadSettings(), 4, 1)
    outcome = game.conclude(1, 0, [game.tally(range(4), [0.0, 1.0, 2.0, None])])
    assert outcome.stats == {"unreached": 1, "spreading": 1, "stopped": 1, "reached": 0.5}
    assert outcome.observation.n_spreading == 1


def test_no_more_begin_than_there_are() -> None:
    assert SpreadSettings(first=4, groups=2).problems(6)[0][0] == "first"
    assert SpreadSettings(first=3, groups=2).problems(6) == []

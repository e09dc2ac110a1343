"""Ultimatum, dictator and trust: payoffs, types of players, and the figures of experiments."""

from pathlib import Path

import numpy as np
import pytest

from engine.scenarios import fehr_schmidt, trust, ultimatum
from engine.scenarios.dictator import DictatorSettings
from engine.scenarios.fehr_schmidt import TASTES, Taste
from engine.scenarios.pairs import PairSettings
from engine.scenarios.trust import Trust, TrustSettings
from engine.scenarios.ultimatum import Ultimatum, UltimatumSettings
from tests.fakes.play import play


@pytest.mark.parametrize(("alpha", "share"), [(0, 0), (0.5, 0.25), (1, 1 / 3), (4, 4 / 9)])
def test_offers_are_accepted_from_a_share_on(alpha: float, share: float) -> None:
    """alpha / (1 + 2 alpha): Fehr and Schmidt (1999), proposition 1."""
    taken = [offer / 900 for offer in range(901) if fehr_schmidt.accepts(Taste(alpha, 0), offer, 900)]
    assert taken[0] == pytest.approx(share, abs=1e-9)
    assert len(taken) == round(900 * (1 - share)) + 1, "whatever is better is accepted too"


def test_best_offers_of_the_types() -> None:
    """Worked out by hand: 1/3 is accepted by 90 %, 4/9 by all; who minds inequality offers half."""
    assert [fehr_schmidt.best_offer(kind, 900) for kind in TASTES] == [300, 400, 450, 450]
    assert [fehr_schmidt.best_gift(kind, 900) for kind in TASTES] == [0, 0, 450, 450]


def test_inequity_averse_offers_are_as_people_make_them(tmp_path: Path) -> None:
    """Oosterbeek et al. (2004): 40 % on average; 60 to 80 % of offers from 40 to 50 %, 16 % rejected."""
    [stats] = play(tmp_path, UltimatumSettings(rounds=1, pie=90), 1000, "inequity_averse")
    assert stats["share"] == pytest.approx(0.40, abs=0.05)
    assert 0.9 < stats["accepted"] < 1
    assert stats["first gets"] + stats["second gets"] == pytest.approx(90 * stats["accepted"])


def test_inequity_averse_gifts_are_as_people_make_them(tmp_path: Path) -> None:
    """Forsythe et al. (1994): 22.6 % of 10 dollars; the types say 20 %."""
    [stats] = play(tmp_path, DictatorSettings(rounds=1), 1000, "inequity_averse")
    assert stats["share"] == pytest.approx(0.226, abs=0.05)
    assert stats["gave half"] == pytest.approx(0.4, abs=0.05)
    assert stats["gave nothing"] == pytest.approx(0.6, abs=0.05)


def test_selfish_players_are_in_equilibrium(tmp_path: Path) -> None:
    """Subgame-perfect: the smallest coin, accepted; no gift; nothing sent."""
    [stats] = play(tmp_path, UltimatumSettings(rounds=1), 10, "selfish")
    assert (stats["offer"], stats["accepted"], stats["first gets"]) == (1, 1, 9)
    [stats] = play(tmp_path / "dictator", DictatorSettings(rounds=1), 10, "selfish")
    assert (stats["given"], stats["gave nothing"]) == (0, 1)
    [stats] = play(tmp_path / "trust", TrustSettings(rounds=1), 10, "selfish")
    assert (stats["sent"], stats["returned"], stats["for each sent"]) == (0, 0, None)
    assert (stats["first has"], stats["second has"]) == (10, 10)


def test_the_averages_of_berg_et_al_make_their_payoffs() -> None:
    """Sent 5.16 of 10, returned 4.66 (1995): trust did not quite pay."""
    first, second = trust.payoffs(np.array([5.16]), np.array([4.66]), 10, 3)
    assert first[0] == pytest.approx(9.5)
    assert second[0] == pytest.approx(20.82)


def test_reciprocal_players_are_near_what_berg_et_al_found(tmp_path: Path) -> None:
    [stats] = play(tmp_path, TrustSettings(rounds=1), 20, "reciprocal")
    assert stats["sent"] == pytest.approx(5.16, abs=0.2)
    assert stats["returned"] == pytest.approx(4.66, abs=0.7)
    assert stats["for each sent"] == pytest.approx(4.66 / 5.16, abs=0.15)


def test_fair_players_end_up_equal(tmp_path: Path) -> None:
    [stats] = play(tmp_path, TrustSettings(rounds=1), 4, "fair")
    assert stats["first has"] == stats["second has"] == 20
    [stats] = play(tmp_path / "u", UltimatumSettings(rounds=1), 4, "fair")
    assert stats["first gets"] == stats["second gets"] == 5


@pytest.mark.parametrize("groups", [1, 3])
def test_pairs_may_be_on_two_workers(tmp_path: Path, groups: int) -> None:
    """With 6 agents on 4 workers, the second of a pair lives somewhere else."""
    settings = UltimatumSettings(rounds=3, groups=groups)
    one, four = (play(tmp_path, settings, 6, "random", workers=workers) for workers in (1, 4))
    assert one == four
    assert [0 <= stats["accepted"] <= 1 for stats in one] == [True] * 3


def test_a_move_that_failed_counts_for_nothing() -> None:
    game = Ultimatum(UltimatumSettings(), 6, 1)
    tallies = [
        game.tally(range(3), [(4.0, 1.0), None, None]),
        game.tally(range(3, 6), [None, (2.0, None), None]),
    ]
    stats = game.conclude(1, 0, tallies).stats
    assert (stats["offer"], stats["accepted"], stats["first gets"]) == (3, 1, 6)
    empty = Trust(TrustSettings(), 2, 1)
    assert empty.conclude(1, 0, [empty.tally(range(2), [None, None])]).stats["sent"] is None


def test_a_refusal_leaves_nothing() -> None:
    first, second = ultimatum.payoffs(np.array([4.0, 4.0]), np.array([1.0, 0.0]), 10)
    assert (first.tolist(), second.tolist()) == ([6, 0], [4, 0])


@pytest.mark.parametrize(
    ("size", "groups", "fine"), [(8, 2, True), (7, 1, False), (6, 2, False), (10, 4, False)]
)
def test_nobody_is_without_a_partner(size: int, groups: int, fine: bool) -> None:
    assert (PairSettings(groups=groups).problems(size) == []) == fine

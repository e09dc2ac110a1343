"""How votes are counted."""

from typing import get_args

import pytest

from engine.scenarios import ballots

CAMPS = [(18, "adecb"), (12, "bedca"), (10, "cbeda"), (9, "dceba"), (4, "ebdca"), (2, "ecdba")]
PROFILE = [["abcde".index(option) for option in ranking] for n, ranking in CAMPS for _ in range(n)]
"""55 voters for whom every method elects another one (a standard example in textbooks of voting)."""


@pytest.mark.parametrize(("method", "winner"), [("plurality", "a"), ("runoff", "b"), ("borda", "d")])
def test_each_method_has_a_winner_of_its_own(method: ballots.Method, winner: str) -> None:
    assert ballots.winners(method, PROFILE, 5) == ["abcde".index(winner)]
    assert ballots.condorcet_winner(PROFILE, 5) == "abcde".index("e")


def test_scores_by_hand() -> None:
    assert ballots.scores("plurality", PROFILE, 5) == [18, 12, 10, 9, 6]
    assert ballots.scores("runoff", PROFILE, 5) == [18, 12, 10, 9, 6]
    assert ballots.scores("borda", PROFILE, 5) == [72, 101, 107, 136, 134]
    assert ballots.scores("approval", [[0, 1], [1], [], [2, 1]], 3) == [1, 3, 1]


def test_who_is_left_out_comes_last() -> None:
    assert ballots.scores("borda", [[2]], 4) == [1, 1, 3, 1]
    assert ballots.scores("borda", [[2], []], 4) == [1, 1, 3, 1], "a blank ballot gives no points"
    assert ballots.beats([[2], [0, 1]], 2, 0) == 0
    assert ballots.beats([[0, 2, 1], [1]], 2, 1) == 0


def test_there_need_not_be_one_who_beats_all_others() -> None:
    """Condorcet's paradox."""
    cycle = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    assert ballots.condorcet_winner(cycle, 3) is None
    assert ballots.condorcet_winner([], 2) is None
    assert ballots.condorcet_winner([[1, 0], [1, 0], [0, 1]], 2) == 1


def test_more_than_half_need_no_runoff_and_equal_ones_all_take_part() -> None:
    assert ballots.winners("runoff", [[0, 1, 2]] * 3 + [[1, 2, 0]] * 2, 3) == [0]
    assert ballots.winners("runoff", [[0, 1, 2]] * 2 + [[1, 2, 0]] * 2 + [[2, 1, 0]], 3) == [1]
    assert ballots.winners("runoff", [[0], [1], [2]], 3) == [0, 1, 2]
    assert ballots.winners("runoff", [[0], [0], [1], [2, 1]], 3) == [0, 1], "both who are second take part"


@pytest.mark.parametrize("method", get_args(ballots.Method))
def test_equal_ones_all_win_and_nobody_wins_without_ballots(method: ballots.Method) -> None:
    assert ballots.winners(method, [[0, 1, 2], [1, 0, 2]], 3) in ([0, 1], [0, 1, 2])
    assert ballots.winners(method, [], 3) == []
    assert ballots.winners(method, [[], []], 3) == []


def test_what_is_no_option_is_left_out() -> None:
    assert ballots.cleaned([2, 2, 7, -1, 0, 2], 3) == [2, 0]

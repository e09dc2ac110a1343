from hypothesis import given
from hypothesis import strategies as st

from app.picture import picture
from engine.cluster.control import RoundReport
from engine.scenarios.scenario import Outcome
from tests.fakes.client import round_report


def with_histogram(number: int, counts: list[int], high: float = 100.0) -> RoundReport:
    return round_report(number, outcome=Outcome({}, None, counts, 0.0, high))


def test_first_and_last_round_stand_side_by_side() -> None:
    drawn = picture([with_histogram(1, [0, 4]), with_histogram(2, [3, 1])], 80)
    assert drawn[0].split() == ["round", "1", "round", "2"]
    assert drawn[1].startswith("  0 to 50")
    assert drawn[1].count("%") == 1
    assert "75%" in drawn[1]
    assert drawn[2].count("█") > drawn[1].count("█")
    assert "100%" in drawn[2]
    assert "25%" in drawn[2]


def test_middle_rounds_are_shown_as_far_as_there_is_room() -> None:
    drawn = picture([with_histogram(n, [1, 1]) for n in range(1, 10)], 80)
    assert drawn[0].split() == ["round", "1", "round", "5", "round", "9"]


def test_one_round_is_a_picture_too() -> None:
    assert picture([with_histogram(1, [1])], 80)[0].split() == ["round", "1"]


def test_ascii_when_the_terminal_has_no_blocks() -> None:
    drawn = "\n".join(picture([with_histogram(1, [0, 1, 5]), with_histogram(2, [9, 1, 0])], 80, blocks=False))
    assert drawn.isascii()
    assert "#" in drawn


def test_a_rare_answer_is_still_seen() -> None:
    drawn = picture([with_histogram(1, [100_000, 1])], 80)
    assert drawn[2].endswith("▏ <1%")


def test_no_histogram_no_picture() -> None:
    assert picture([], 80) == []
    assert picture([with_histogram(1, [])], 80) == []


def test_rounds_on_another_axis_are_left_out() -> None:
    drawn = picture([with_histogram(1, [1, 1], high=10.0), with_histogram(2, [1, 1])], 80)
    assert drawn[0].split() == ["round", "2"]


@given(
    st.integers(1, 60).flatmap(
        lambda bins: st.lists(
            st.lists(st.integers(0, 10**9), min_size=bins, max_size=bins), min_size=1, max_size=5
        )
    ),
    st.integers(40, 200),
    st.booleans(),
)
def test_it_fits_and_has_no_more_rows_than_bins(
    histograms: list[list[int]], width: int, blocks: bool
) -> None:
    drawn = picture(
        [with_histogram(n, counts) for n, counts in enumerate(histograms, 1)], width, blocks=blocks
    )
    assert max(map(len, drawn)) <= width
    assert len(drawn) <= 21

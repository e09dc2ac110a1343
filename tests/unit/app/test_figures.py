import pytest

from app import figures


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "-"),
        (0.0, "0"),
        (50.0, "50"),
        (41.2345, "41.23"),
        (0.012345, "0.0123"),
        (1_234_567.0, "1,234,567"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ("player\x1b 7", r"player\x1b 7"),
        ("x" * 30, "x" * 21 + "..."),
    ],
)
def test_number(value: float | str | None, written: str) -> None:
    assert figures.number(value) == written


@pytest.mark.parametrize(
    ("value", "written"), [(0, "0 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_duration(value: float, written: str) -> None:
    assert figures.duration(value) == written


@pytest.mark.parametrize(("value", "written"), [(0.254, "0.25 s"), (12.44, "12.4 s"), (310.2, "310 s")])
def test_seconds(value: float, written: str) -> None:
    assert figures.seconds(value) == written


@pytest.mark.parametrize(("value", "written"), [(3.24, "3.2/s"), (86_123.4, "86,123/s")])
def test_rate(value: float, written: str) -> None:
    assert figures.rate(value) == written


def test_counts_name_the_most_frequent_first() -> None:
    assert figures.counts({"timeout": 1, "never": 0, "unpars\x1bable": 3}) == r"3 unpars\x1bable, 1 timeout"


def test_counts_have_shares_of_what_is_known() -> None:
    assert figures.counts({"timeout": 1, "unparsed": 30}, 400) == "30 unparsed (7.5 %), 1 timeout (0.25 %)"


@pytest.mark.parametrize(("part", "whole", "written"), [(1, 8, "12 %"), (8, 8, "100 %"), (1, 0, "-")])
def test_percent(part: int, whole: int, written: str) -> None:
    assert figures.percent(part, whole) == written


@pytest.mark.parametrize(("n", "written"), [(0, "0 rounds"), (1, "1 round"), (1000, "1,000 rounds")])
def test_plural(n: int, written: str) -> None:
    assert figures.plural(n, "round") == written

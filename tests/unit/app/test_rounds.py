from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from app import rounds
from engine.cluster.control import RoundReport
from engine.scenarios.scenario import Outcome
from tests.fakes.client import round_report


def printed(*tables: Table, width: int = 80) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(*tables)
    return captured.get().splitlines()


def results(*reports: RoundReport, width: int = 80) -> list[str]:
    return printed(*rounds.results_tables(reports, width), width=width)


def test_a_row_has_what_the_scenario_reports() -> None:
    assert rounds.row(round_report(), 3) == [
        "round 1/3", "answered 98",
        "mean 41.23", "median 40", "sd 12.12", "mode 50", "target 27.49", "winners 3",
        "12.4 s",
    ]  # fmt: skip


def test_the_split_names_all_five_parts() -> None:
    assert rounds.split(round_report()) == [
        "model 11.9 s", "agents 0.20 s", "messages 0.10 s", "idle 0.20 s", "journal 0.35 s"
    ]  # fmt: skip


def test_processor_time_is_told_a_step() -> None:
    assert rounds.cpu(round_report()) == "cpu 0.31 s, 3,100 us an agent step"


def test_the_table_of_the_main_game_fits_80_columns() -> None:
    lines = results(round_report(1), round_report(2))
    assert " ".join(lines[0].split()) == "round answered mean median sd mode target winners seconds"
    assert lines[-1].split() == ["2", "98", "41.23", "40", "12.12", "50", "27.49", "3", "12.40"]
    assert len(lines) == 4


def test_a_column_that_one_round_lacks_stays_empty() -> None:
    other = round_report(2, outcome=Outcome({"surplus": 7.0}))
    lines = results(round_report(outcome=Outcome({"mean": 1.0})), other)
    assert lines[0].split() == ["round", "answered", "mean", "surplus", "seconds"]
    assert lines[-1].split() == ["2", "98", "-", "7", "12.40"]


def test_columns_that_do_not_fit_go_below_and_text_comes_last() -> None:
    stats = {"winning players": "4, 8, 15, 16, 23, 42", "winning number": 33.0, "sum": 12345678.0, "b": 1.5}
    lines = results(round_report(outcome=Outcome(stats)), width=44)
    assert [line.split() for line in lines if "─" not in line] == [
        ["winning"],
        ["round", "answered", "number", "sum", "b"],
        ["1", "98", "33", "12,345,678", "1.50"],
        ["round", "seconds", "winning", "players"],
        ["1", "12.40", "4,", "8,", "15,", "16,", "23,", "42"],
    ]


def test_the_time_table() -> None:
    lines = printed(*rounds.time_tables([round_report()], 80))
    assert lines[0].split() == ["round", "seconds", "model", "agents", "messages", "idle", "journal", "cpu"]
    assert lines[-1].split() == ["1", "12.40", "11.90", "0.20", "0.10", "0.20", "0.35", "0.31"]


def test_hostile_names_and_values_are_shown_not_obeyed() -> None:
    report = round_report(outcome=Outcome({"[red]\x1b[2J": "[/oops]\x07"}))
    assert rounds.row(report)[2] == r"[red]\x1b[2J [/oops]\x07"
    text = "".join(results(report))
    assert "[/oops]" in text
    assert "\x1b" not in text


@given(st.lists(st.text("ab ", min_size=1, max_size=30), min_size=1), st.integers(40, 100))
def test_flow_breaks_between_parts_only(parts: list[str], width: int) -> None:
    lines = rounds.flow(parts, width)
    assert max(map(len, lines)) <= width
    assert "".join(lines).replace(" ", "") == "".join(parts).replace(" ", "")

import io
from collections.abc import Iterable

import pytest

from app.console import console
from app.narrator import LiveNarrator, Narrator, PlainNarrator, Verbosity
from engine.cluster.control import Event, Notice
from tests.fakes.client import DONE, round_report, snapshot


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def plain(
    events: Iterable[Event], verbosity: Verbosity = Verbosity.NORMAL, step_s: float = 0.25
) -> list[str]:
    stream, clock = io.StringIO(), Clock()
    tell(PlainNarrator(console(stream), clock, verbosity), events, clock, step_s)
    return stream.getvalue().splitlines()


def live(events: Iterable[Event], monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> str:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = Terminal()
    tell(LiveNarrator(console(stream)), events, Clock(), 0.25)
    return stream.getvalue()


def tell(narrator: Narrator, events: Iterable[Event], clock: Clock, step_s: float) -> None:
    with narrator:
        for event in events:
            clock.now += step_s
            narrator.hear(event)


def test_a_log_gets_a_line_each_ten_seconds() -> None:
    lines = plain([snapshot(n_done=n) for n in range(121)])
    assert [line.split(",")[0] for line in lines] == [
        "round 2/3: 39/100",
        "round 2/3: 79/100",
        "round 2/3: 119/100",
    ]


def test_a_log_gets_one_line_a_round_and_one_for_its_time() -> None:
    row, spent = plain([snapshot(), round_report(2)])
    assert row.startswith("round 2/3  answered 98  mean 41.23")
    assert row.endswith("12.4 s")
    assert spent == "  model 11.9 s  agents 0.20 s  messages 0.10 s  idle 0.20 s  journal 0.35 s"


def test_verbose_tells_the_processor_time() -> None:
    assert plain([round_report()], Verbosity.VERBOSE)[1].endswith("cpu 0.31 s, 3,100 us an agent step")


def test_quiet_says_warnings_and_errors_only() -> None:
    events = [
        snapshot(),
        round_report(),
        Notice("info", "i"),
        Notice("warning", "w"),
        Notice("error", "e"),
        DONE,
    ]
    assert plain(events, Verbosity.QUIET, step_s=60) == ["w", "e"]


def test_a_notice_can_neither_steer_nor_crash_the_terminal() -> None:
    (line,) = plain([Notice("warning", "agent 7: [/oops] \x1b[2J\u202e" + "x" * 10_000)])
    assert line.startswith(r"agent 7: [/oops] \x1b[2Jxxx")
    assert len(line) < 5_000


def test_a_terminal_gets_one_line_that_is_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = live([snapshot(n_done=10), snapshot(n_done=20), round_report(2), DONE], monkeypatch)
    assert "10/100" in shown
    assert "20/100" in shown
    assert shown.count("\x1b[2K") >= 2
    assert "answered 98" in shown
    assert shown.rstrip().endswith("\x1b[2K")
    assert "\x1b[?25h" in shown


def test_a_narrow_terminal_breaks_rows_between_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = live([round_report()], monkeypatch, columns=60)
    row = next(line for line in shown.splitlines() if "answered" in line)
    assert row.endswith("sd 12.12")


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    warning = [Notice("warning", "careful")]
    assert "\x1b[33m" in live(warning, monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[33m" not in live(warning, monkeypatch)

import pytest
from rich.console import Console

from app import progress
from engine.cluster.control import Usage
from tests.fakes.client import snapshot


def live(width: int, **changes: object) -> str:
    console = Console(width=width, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(progress.live_line(snapshot(**changes), width))
    return captured.get().rstrip("\n")


def test_plain_line_says_everything() -> None:
    assert progress.plain_line(snapshot(failures={"unparsable": 2, "timeout": 1})) == (
        "round 2/3: 43/100, 3 failed, 1 min 15 s left (the last 20 s), 3.2/s, 32 in flight"
    )


def test_no_time_left_without_a_basis() -> None:
    assert "time left --" in progress.plain_line(snapshot(eta_s=None, eta_basis=""))


def test_before_the_first_round() -> None:
    assert progress.plain_line(snapshot(state="starting", round=0)) == "starting 20 s: 100 agents"


def test_while_personas_are_written() -> None:
    line = progress.plain_line(snapshot(state="writing", round=0, n_agents=500, n_done=43))
    assert line == "writing personas: 43/500, 1 min 15 s left (the last 20 s), 3.2/s, 32 in flight"


def test_a_state_that_is_not_running_is_named() -> None:
    assert progress.standing(snapshot(state="stopping")) == "stopping, round 2/3"


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (
            100,
            "round 2/3  ━━━━━━╸           434,434/1,000,000  1,234 failed (2.5 %)  1 min 15 s left  86,123/s",
        ),
        (80, "round 2/3  434,434/1,000,000  1,234 failed (2.5 %)  1 min 15 s left  86,123/s"),
        (70, "round 2/3  434,434/1,000,000  1,234 failed (2.5 %)  1 min 15 s left"),
        (60, "round 2/3  434,434/1,000,000  1,234 failed (2.5 %)"),
        (40, "round 2/3  434,434/1,000,000"),
    ],
)
def test_a_narrow_terminal_gets_one_line_that_keeps_what_matters(columns: int, shown: str) -> None:
    counts = {"n_agents": 1_000_000, "n_done": 434_434, "rate": 86_123.0, "in_flight": 500_000}
    used = [Usage("default", "", 50_000, 9000, 100, 0)]
    failures = {"unparsed": 1234, "repaired": 99}
    line = live(columns, **counts, failures=failures, usage=used, token_rate=300.0)
    assert line.rstrip() == shown


def test_what_is_over_has_no_time_left() -> None:
    over = snapshot(state="done", round=3, n_done=100, in_flight=0, failures={"unparsed": 2})
    assert progress.plain_line(over) == "done, round 3/3: 100/100, 2 failed"


def test_a_wide_terminal_gets_a_bar() -> None:
    assert "━━" in live(120)
    assert "━" not in live(80)


def test_hostile_words_are_shown_not_obeyed() -> None:
    line = live(200, state="\x1b[2J[red]", eta_basis="\x1b]0;title\x07[/oops]")
    assert "\x1b" not in line.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert "[/oops]" in line


def test_failures_tokens_and_money_are_told_while_the_run_goes() -> None:
    used = [Usage("default", "", 200, 9000, 100, 0, 0.5, "USD")]
    line = progress.plain_line(
        snapshot(failures={"unparsed": 4, "repaired": 12}, usage=used, token_rate=12.34)
    )
    assert "4 failed (2 %), 1 min" in line
    assert line.endswith(", 12 repaired, 0.5 USD, 12.30 tokens/s, 32 in flight")

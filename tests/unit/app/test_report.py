import io
from pathlib import Path

import pytest

from app.console import console
from app.record import Record
from app.report import print_error, print_report
from engine.cluster.control import Event, Usage
from engine.errors import UsageError
from engine.journal.run_directory import RunDirectory
from tests.fakes.client import round_report, snapshot


def report(*events: Event, directory: str = "/runs/game-1", blocks: bool = True) -> str:
    record = Record()
    record.directory = RunDirectory(Path(directory))
    for event in events:
        record.add(event)
    stream = io.StringIO()
    print_report(console(stream), record, blocks=blocks)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_it_has_tables_picture_ledger_and_directory_within_80_columns() -> None:
    shown = report(round_report(1), round_report(2), snapshot(failures={"unparsable": 2, "timeout": 1}))
    assert max(map(len, shown.splitlines())) <= 80
    positions = [
        shown.index(part) for part in ("winners", "messages", "█", "2 unparsable, 1 timeout", "/runs/game-1")
    ]
    assert positions == sorted(positions)


@pytest.mark.parametrize("columns", [40, 60])
def test_on_a_narrow_terminal_no_table_loses_a_column_or_a_figure(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    used = [Usage(name, "some", 98, 9_800_000, 294, 4900, 0.015, "USD") for name in ("large", "small")]
    shown = report(round_report(1, n_affected=2, unaffected={"mean": 1.5}), snapshot(usage=used))
    assert max(map(len, shown.splitlines())) <= columns
    assert "…" not in shown
    for word in (
        "messages",
        "journal",
        "cpu",
        "0.31",
        "cached",
        "cost",
        "0.03 USD",
        "19,600,000",
        "affected",
    ):
        assert word in shown, word


def test_tokens_have_a_table_if_there_are_any() -> None:
    used = Usage("default", "", 98, 9800, 294, 4900, 0.015, "USD")
    shown = report(round_report(1), snapshot(usage=[used]))
    assert "9,800" in shown
    assert "0.015 USD" in shown
    assert "Tokens" not in report(round_report(1), snapshot(usage=[Usage("default", "", 98, 0, 0, 0)]))


def test_failures_are_told_as_shares_of_replies_and_of_agents() -> None:
    failures = {"unparsed": 4, "repaired": 12, "exception": 1}
    shown = report(round_report(1), snapshot(failures=failures, usage=[Usage("default", "", 200, 0, 0, 0)]))
    assert (
        "Failures: 12 repaired (6 %), 4 unparsed (2 %) of 200 replies; 1 exception (1 %) of 100 agents"
        in shown
    )


def test_the_result_without_affected_agents_is_told_where_there_are_any() -> None:
    assert "Without the agents" not in report(round_report(1))
    shown = report(round_report(1), round_report(2, n_affected=7, unaffected={"mean": 39.87, "sd": 2.5}))
    table = shown.partition("Without the agents")[2].partition("Seconds")[0].splitlines()
    assert next(line.split() for line in table[1:] if line.strip()) == ["round", "affected", "mean", "sd"]
    assert ["2", "7", "39.87", "2.50"] in [line.split() for line in table]
    assert not any(line.split()[:1] == ["1"] for line in table)


def test_without_blocks_it_is_ascii_in_the_picture() -> None:
    assert "█" not in report(round_report(), blocks=False)


def test_no_failures_are_said_to_be_none() -> None:
    assert "Failures: none" in report(round_report())


def test_a_run_without_rounds_has_a_file_only() -> None:
    assert report() == "Run: /runs/game-1/run.db\n"


def test_a_long_directory_is_not_broken() -> None:
    assert f"/{'x' * 200}/run.db\n" in report(directory=f"/{'x' * 200}")


def test_an_error_says_what_where_and_the_way_out() -> None:
    stream = io.StringIO()
    print_error(console(stream), UsageError("[/bad] \x1b[2J\nsecond", where="a.toml", hint="mend it"))
    assert stream.getvalue() == "error: a.toml: [/bad] \\x1b[2J\nsecond\n  mend it\n"

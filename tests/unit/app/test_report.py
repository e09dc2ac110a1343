import io
from pathlib import Path

import pytest

from app.console import console
from app.record import Record
from app.report import print_error, print_report
from engine.cluster.control import Event
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

"""The beginning of a run file as a run file of its own."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from engine.errors import JournalError, UsageError
from engine.journal.batch import JournalBatch
from engine.journal.branch import copy_rounds
from engine.journal.totals import read_totals
from engine.journal.writer import Writer
from tests.fakes.journal import ended, failure, reply
from tests.fakes.journals import EXACTLY, content

SHARED = {name: f"SELECT * FROM {name}" for name in ("prefixes", "forms", "models", "slices")}


def parent(path: Path) -> Path:
    """Make a run of two rounds over all groups; one group is ahead by a round and a half."""
    writer = Writer(path)
    writer.add(
        JournalBatch(
            [reply(round_, agent, value=1.5, text="é\0") for round_ in (1, 2, 3, 4) for agent in range(3)],
            [failure(round_, 1) for round_ in (1, 2, 3)],
            [(77, "[]")],
            [(78, "{}")],
            [(None, "tell", round_, 1, 0, 2, '"hi"', None, None) for round_ in (2, 3)],
        )
    )
    writer.model(1, "default", "dummy", {"latency_s": 0})
    writer.slices(["some"])
    writer.rounds([ended(n, grp=grp) for n in (1, 2) for grp in (-1, 0, 1)] + [ended(3, grp=0)])
    writer.event("started", "")
    writer.close()
    return path


def rows(path: Path, last: int, queries: dict[str, str]) -> dict[str, list[Any]]:
    """Return a file's content up to a round."""
    first_after = (last + 1) << 43
    where = {
        "replies": f" WHERE key < {first_after}",
        "failures": f" WHERE key < {first_after}",
        "messages": f" WHERE round <= {last}",
        "rounds": f" WHERE round <= {last}",
    }
    return content(path, {name: sql + where.get(name, "") for name, sql in queries.items()})


@pytest.mark.parametrize("last", [1, 2])
def test_all_of_the_shared_rounds_and_nothing_else(tmp_path: Path, last: int) -> None:
    source = parent(tmp_path / "run.db")
    copy_rounds(source, tmp_path / "branch.db", last)
    assert content(tmp_path / "branch.db", EXACTLY | SHARED) == rows(source, last, EXACTLY | SHARED)
    assert len(content(tmp_path / "branch.db", EXACTLY)["replies"]) == 3 * last
    assert content(tmp_path / "branch.db", {"events": "SELECT * FROM events"}) == {"events": []}


def test_a_branch_goes_on_as_any_run_file(tmp_path: Path) -> None:
    copy_rounds(parent(tmp_path / "run.db"), tmp_path / "branch.db", 1)
    writer = Writer(tmp_path / "branch.db")
    writer.add(JournalBatch([reply(1, 0, value=9.9), reply(2, 0, value=2.5)]))
    writer.close()
    assert (writer.replies, writer.duplicates) == (1, 1)
    connection = sqlite3.connect(tmp_path / "branch.db")
    assert connection.execute("SELECT value FROM replies WHERE agent = 0").fetchall() == [(1.5,), (2.5,)]
    assert sum(total.replies for total in read_totals(connection).models) == 4
    connection.close()


@pytest.mark.parametrize("last", [0, 3, 4, 99])
def test_a_round_that_is_not_over_in_all_groups_cannot_be_shared(tmp_path: Path, last: int) -> None:
    with pytest.raises(UsageError, match="is not a finished round") as caught:
        copy_rounds(parent(tmp_path / "run.db"), tmp_path / "branch.db", last)
    assert caught.value.hint == "It has finished 2 rounds: --round takes 1 to 2."
    assert not (tmp_path / "branch.db").exists()


def test_a_parent_that_is_being_written_is_read_as_it_is(tmp_path: Path) -> None:
    source = parent(tmp_path / "run.db")
    writer = Writer(source)
    writer.add(JournalBatch([reply(5, 0)]))
    copy_rounds(source, tmp_path / "branch.db", 2)
    writer.close()
    assert len(content(tmp_path / "branch.db", EXACTLY)["replies"]) == 6


def test_a_damaged_parent_is_told(tmp_path: Path) -> None:
    source = parent(tmp_path / "run.db")
    whole = source.read_bytes()
    source.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(JournalError):
        copy_rounds(source, tmp_path / "branch.db", 1)


def test_names_that_are_no_plain_urls(tmp_path: Path) -> None:
    folder = tmp_path / "a?b#c%41 'd'"
    folder.mkdir()
    copy_rounds(parent(folder / "run.db"), folder / "branch.db", 1)
    assert len(content(folder / "branch.db", EXACTLY)["replies"]) == 3

"""One process holds a run directory, and others can tell which without being in its way."""

import os
from pathlib import Path

import pytest

from engine.errors import JournalError
from engine.journal.lock import ATTEMPTS, Lock, holder


def test_the_holder_is_this_process_until_it_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    assert holder(path) is None
    lock = Lock(path)
    assert holder(path) == os.getpid()
    lock.release()
    assert holder(path) is None


def test_a_second_one_is_told_who_holds_it(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "run.lock")
    pauses: list[float] = []
    with pytest.raises(JournalError, match=f"process {os.getpid()} is running this run") as caught:
        Lock(tmp_path / "run.lock", pauses.append)
    assert caught.value.where == str(tmp_path)
    assert len(pauses) == ATTEMPTS - 1
    lock.release()


def test_who_only_asks_for_the_holder_keeps_nobody_from_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    asking = Lock(path)
    taken = Lock(path, lambda _: asking.release())
    assert holder(path) == os.getpid()
    taken.release()


@pytest.mark.parametrize("content", ["", "?", "\x00\xff"])
def test_a_holder_without_a_number(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run.lock"
    lock = Lock(path)
    path.write_text(content, encoding="utf-8")
    assert holder(path) == 0
    lock.release()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be locked") as caught:
        Lock(tmp_path / "none" / "run.lock")
    assert caught.value.hint

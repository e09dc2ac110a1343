"""The journal on disks that fill up or cannot be written, and under writers that are killed."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from engine.errors import JournalError
from engine.journal.batch import JournalBatch
from engine.journal.manifest import describe_run, read_manifest, write_manifest
from engine.journal.reader import Reader
from engine.journal.writer import Writer
from tests.fakes.journal import reply

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 3, 1)


def mount(*options: str) -> None:
    done = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs to mount a file system: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs to mount a file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", "size=1m", "none", str(disk))
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def write(writer: Writer, n: int) -> None:
    for agent in range(n):
        writer.add(JournalBatch([reply(1, agent, value=1.0, text="x" * 500)]))
        if agent % 50 == 49:
            writer.commit()


def write_until_it_fails(writer: Writer) -> JournalError:
    with pytest.raises(JournalError) as caught:
        write(writer, 100_000)
    return caught.value


def count_replies(path: Path) -> int:
    with Reader(path) as reader:
        return sum(reader.answers(1).values())


def check_that_it_ended_cleanly(writer: Writer, path: Path, error: JournalError) -> None:
    kept = writer.replies
    assert kept > 100
    assert error.what == (
        "the journal cannot be written "
        f"({kept:,} replies are kept, the last 50 rows are not): database or disk is full"
    )
    assert error.where == str(path)
    assert error.hint.startswith("Free space there, or keep less")
    assert count_replies(path) == kept
    writer.close()
    assert count_replies(path) == kept


def test_a_full_disk_keeps_what_is_there(small_disk: Path) -> None:
    path = small_disk / "run.db"
    writer = Writer(path)
    check_that_it_ended_cleanly(writer, path, write_until_it_fails(writer))


def test_a_full_file_keeps_what_is_there(tmp_path: Path) -> None:
    """The same without the right to mount: SQLite itself limits the file."""
    path = tmp_path / "run.db"
    writer = Writer(path)
    writer._db.execute("PRAGMA max_page_count = 100")
    check_that_it_ended_cleanly(writer, path, write_until_it_fails(writer))


def test_writing_goes_on_when_space_is_freed(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 500_000)
    writer = Writer(small_disk / "run.db")
    write_until_it_fails(writer)
    kept = writer.replies
    ballast.unlink()
    writer.commit()
    assert writer.replies == kept + 50
    writer.close()
    assert count_replies(small_disk / "run.db") == kept + 50


def test_a_full_disk_still_takes_the_end_of_the_manifest(small_disk: Path) -> None:
    path = small_disk / "manifest.json"
    manifest = describe_run("demo", 5, b"", NOW)
    write_manifest(manifest, path)
    writer = Writer(small_disk / "run.db")
    write_until_it_fails(writer)
    (small_disk / "rest").write_bytes(b"x" * free_bytes(small_disk))
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "more").write_bytes(b"x")
    write_manifest(manifest.ended_as("failed", NOW), path)
    writer.close()
    assert read_manifest(path).state == "failed"


def free_bytes(disk: Path) -> int:
    space = os.statvfs(disk)
    return space.f_bfree * space.f_frsize


def killed(path: Path) -> None:
    """Leave a run file behind as a killed writer does: 3 replies committed, 2 not."""
    script = f"""
import os, signal
from pathlib import Path
from engine.journal.batch import JournalBatch
from engine.journal.writer import Writer
from tests.fakes.journal import reply
writer = Writer(Path({str(path)!r}))
writer.add(JournalBatch([reply(1, agent, value=1.0) for agent in range(3)]))
writer.commit()
writer.add(JournalBatch([reply(1, agent, value=1.0) for agent in range(3, 5)]))
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL


def finished(path: Path) -> None:
    writer = Writer(path)
    writer.add(JournalBatch([reply(1, agent, value=1.0) for agent in range(3)]))
    writer.close()


def test_what_a_killed_writer_committed_is_there(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    killed(path)
    assert count_replies(path) == 3
    writer = Writer(path)
    writer.add(JournalBatch([reply(1, agent, value=1.0) for agent in range(5)]))
    writer.close()
    assert (writer.replies, writer.duplicates) == (2, 3)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_reading_leaves_a_killed_run_as_it_is(tmp_path: Path) -> None:
    killed(tmp_path / "run.db")
    files = {name: (tmp_path / name).read_bytes() for name in ("run.db", "run.db-wal")}
    assert count_replies(tmp_path / "run.db") == 3
    assert {name: (tmp_path / name).read_bytes() for name in files} == files


@pytest.mark.parametrize("left_behind", [finished, killed])
def test_read_only_media_can_be_read_but_not_written(
    small_disk: Path, left_behind: Callable[[Path], None]
) -> None:
    path = small_disk / "run.db"
    left_behind(path)
    mount("-o", "remount,ro", str(small_disk))
    assert count_replies(path) == 3
    with pytest.raises(JournalError, match="cannot be opened") as caught:
        Writer(path)
    assert "Make" in caught.value.hint


def test_a_file_that_turns_read_only(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = Writer(path)
    write(writer, 50)
    writer._db.execute("PRAGMA query_only = 1")
    with pytest.raises(JournalError, match="cannot be written") as caught:
        write(writer, 50)
    assert "Make the file and its folder writable" in caught.value.hint
    writer.close()
    assert count_replies(path) == 50


def test_a_run_is_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = Writer(path)
    with Reader(path) as reader:
        for n in range(1, 4):
            writer.add(JournalBatch([reply(1, n, value=1.0)]))
            writer.commit()
            assert reader.answers(1) == {1.0: n}
    writer.close()

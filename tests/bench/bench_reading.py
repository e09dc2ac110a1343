"""Reading does not grow with the run: memory of exports by rows, time of a list of many runs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.journal.batch import JournalBatch
from engine.journal.writer import COMMIT_ROWS, Writer
from tests.fakes.journal import reply
from tests.fakes.run_directories import make_run

pytestmark = pytest.mark.bench

FEW, MANY = 100_000, 1_000_000
PROMPT = (
    '[["user","You are player %d. You are 34 years old, work as a nurse in Leeds and like chess. Number?"]]'
)
# Not ru_maxrss: that is inherited from this process. VmHWM is the child's own.
SIMTUI = """
import atexit, pathlib, re
status = pathlib.Path("/proc/self/status")
atexit.register(lambda: print(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1]))
from app.main import main
main()
"""


def write(path: Path, n: int) -> None:
    writer = Writer(path)
    for start in range(0, n, COMMIT_ROWS):
        agents = range(start, min(n, start + COMMIT_ROWS))
        rows = [reply(1, a, value=a % 101 / 1.0, text=f"{a % 101}", messages=PROMPT % a) for a in agents]
        writer.add(JournalBatch(rows))
    writer.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Path]]:
    folder = tmp_path_factory.mktemp("runs")
    made = {}
    for n in (FEW, MANY):
        made[n] = make_run(folder / str(n), agents=n).path
        write(made[n] / "run.db", n)
    yield made
    for path in made.values():
        (path / "run.db").unlink()


def simtui(*arguments: str) -> tuple[float, int]:
    """Return seconds and bytes of memory that a command took at most."""
    started = time.perf_counter()
    command = [sys.executable, "-c", SIMTUI, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - started, int(done.stdout.split()[-1]) * 1024


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_the_memory_of_an_export_does_not_grow_with_its_rows(
    runs: dict[int, Path], tmp_path: Path, form: str
) -> None:
    took = {}
    for n, run in runs.items():
        out = tmp_path / f"{n}.{form}"
        took[n] = simtui("export", str(run), "--table", "replies", "--format", form, "--out", str(out))
        size = out.stat().st_size
        out.unlink()
        seconds, memory = took[n]
        print(f"\n{form:8} {n:9,} rows: {size / 1e6:6.0f} MB in {seconds:5.1f} s", end="")
        print(f", {memory / 1e6:4.0f} MB resident", end="")
    ratio = took[MANY][1] / took[FEW][1]
    print(f"\n{form:8} memory x{ratio:.2f} for x{MANY / FEW:.0f} rows")
    assert ratio < 1.5


def test_a_list_of_hundreds_of_runs_is_quick(tmp_path: Path) -> None:
    n = 300
    for i in range(n):
        write(make_run(tmp_path / f"run-{i}", agents=100).path / "run.db", 100)
    seconds, memory = simtui("runs", str(tmp_path))
    print(f"\n{n} runs listed in {seconds:.2f} s, {memory / 1e6:.0f} MB resident")
    assert seconds < 5

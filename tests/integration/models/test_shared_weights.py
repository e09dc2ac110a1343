"""Runs at the same time on one machine: the weights are in memory once."""

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux tells what is shared"),
]

WEIGHTS_KB = 130_000
"""Of 141,400: nearly all of the converted weights."""


def mapped(pid: int) -> tuple[int, int]:
    """Return the kB of weights that a process sees in memory, and its share of those (proc_pid_smaps(5))."""
    parts = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text(), flags=re.MULTILINE)
    weights = [part for part in parts if part.partition("\n")[0].endswith("-q8_0.gguf")]
    seen, share = (
        sum(int(kb) for part in weights for kb in re.findall(rf"^{field}: +(\d+) kB", part, re.MULTILINE))
        for field in ("Rss", "Pss")
    )
    return seen, share


def test_two_runs_have_one_copy_of_the_weights(tmp_path: Path) -> None:
    with ExitStack() as stack:
        holders = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "tests.fakes.holds_weights", str(tmp_path)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            for _ in range(2)
        ]
        for holder in holders:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"ready\n"
        for seen, share in (mapped(holder.pid) for holder in holders):
            assert seen >= WEIGHTS_KB
            assert share == pytest.approx(seen / 2, rel=0.05)
        for holder in holders:
            holder.communicate()

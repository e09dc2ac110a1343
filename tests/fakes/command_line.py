"""The command line in a process of its own, as people use it."""

from __future__ import annotations

import subprocess
import sys


def run_simtui(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, whatever that is."""
    command = [sys.executable, "-c", "from app.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def output_of(*arguments: str) -> str:
    """Return what a command that succeeds prints."""
    done = run_simtui(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout

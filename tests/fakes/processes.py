"""Processes that tests start, and whether they are there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


@contextmanager
def stub(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start the stub server as a process of its own, and yield its URL and its process."""
    command = [sys.executable, "-m", "tests.fakes.stub_server", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process
        process.kill()


def alive(pid: int) -> bool:
    """Tell whether a process has not ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

"""Small file systems that fill up, for tests that may mount them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(at: Path, kib: int) -> Iterator[Path]:
    """Mount an empty file system of that size; skip the test where that is not allowed."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs to mount a file system")
    at.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", str(at)]
    done = subprocess.run(options, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs to mount a file system: {done.stderr.strip()}")
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)

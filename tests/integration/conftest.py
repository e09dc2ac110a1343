"""The scenario for tests, installed as a package for this process and those that it starts."""

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.fakes.packages import install


@pytest.fixture
def trial_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the scenario "trial" known, and end what a failed test has left running."""
    folder = tmp_path / "packages"
    folder.mkdir()
    install(folder, "trial", "tests.fakes.trial:Trial", monkeypatch)
    yield
    for child in psutil.Process().children():
        if "engine.cluster.main" in child.cmdline():
            child.kill()
            child.wait()

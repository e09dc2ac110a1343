"""A sample of the storm, for as long as the time of everybody's tests allows."""

import time
from pathlib import Path

import pytest

from tests.integration.recovery.storm import Counts, Storm

SECONDS = 45.0


@pytest.mark.timeout(180)
def test_runs_in_a_storm_come_to_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts, seed, end = Counts(), 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        Storm(seed, folder, counts).play()
        assert counts.different == [], f"seed {seed}"
        assert counts.doubled == 0, f"seed {seed}"
        seed += 1
    with capsys.disabled():
        print(f"\n  {counts}")
    assert counts.kills.total() > 5
    assert counts.asked > 0

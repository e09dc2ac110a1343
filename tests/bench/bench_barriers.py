"""What it gains that groups go on without waiting for each other, where some replies take much longer.

pytest -m bench -s tests/bench/bench_barriers.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import lognorm

from tests.bench.machine import load
from tests.bench.runs import Run, run
from tests.fakes.packages import install

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

N_GROUPS, SIZE, ROUNDS = 1000, 4, 6
LATENCY = {"s": 1.0, "scale": 0.2}
"""Log-normal: the median is 0.2 s, the longest of 4,000 about 7 s."""

PRESET = f"""
name = "barriers"
[scenario]
name = "{{name}}"
rounds = {ROUNDS}
groups = {N_GROUPS}
[population]
size = {N_GROUPS * SIZE}
[model]
backend = "dummy"
latency_s = {{{{ distribution = "lognorm", s = {LATENCY["s"]}, scale = {LATENCY["scale"]} }}}}
[engine]
workers = 2
"""


def least_seconds() -> tuple[float, float]:
    """Return how long the waits alone take on average, for groups apart and for all together."""
    draws = lognorm(**LATENCY).rvs((20, ROUNDS, N_GROUPS, SIZE), random_state=1).max(axis=3)
    return float(np.mean(draws.sum(axis=1).max(axis=1))), float(np.mean(draws.max(axis=2).sum(axis=1)))


def test_groups_run_ahead_of_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 groups of 4, 6 rounds; what a global barrier costs depends on the model's tail alone."""
    runs: dict[str, Run] = {}
    for name, target in (("apart", "Apart"), ("together", "Together")):
        install(tmp_path, name, f"tests.bench.barriers:{target}", monkeypatch)
        runs[name] = run(PRESET.format(name=name))
    apart, together = (runs[name].usage for name in ("apart", "together"))
    least_apart, least_together = least_seconds()
    print(
        f"\n  {N_GROUPS:,} barriers in place of one for all: x{together.wall_s / apart.wall_s:.1f}"
        f" ({together.wall_s:.1f} to {apart.wall_s:.1f} s); {load()}\n"
        f"    waits alone: x{least_together / least_apart:.1f}"
        f" ({least_together:.1f} to {least_apart:.1f} s); CPU {together.cpu_s:.1f} and {apart.cpu_s:.1f} s"
    )
    for result in runs.values():
        assert [report.outcome.stats["answers"] for report in result.rounds] == [N_GROUPS * SIZE] * ROUNDS
    assert together.wall_s > 1.3 * apart.wall_s

"""A round of the social feed with 100,000 people and no language model.

pytest -m bench -s tests/bench/bench_feed.py
"""

from __future__ import annotations

import pytest

from tests.bench.machine import load
from tests.bench.runs import ROOT, run

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

N_PEOPLE = 100_000
TARGET_S = 10.0
PRESET = (ROOT / "presets" / "social_feed_day.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("ranking", ["recency", "popularity", "similarity"])
def test_a_round_of_the_feed(ranking: str) -> None:
    """All 100,000 look at five posts each; in the first round there are none yet, but all begin to follow."""
    sets = ("scenario.rounds=4", f"scenario.ranking={ranking}", "scenario.activity.pattern=always")
    result = run(PRESET, f"population.size={N_PEOPLE}", "engine.workers=2", *sets)
    first, *rounds = result.rounds
    seconds = [report.seconds for report in rounds]
    worst, cpu_s = max(seconds), sum(report.cpu_s for report in rounds) / len(rounds)
    print(
        f"\n  {ranking}: a round takes {worst:.1f} s at most,"
        f" x{TARGET_S / worst:.1f} as fast as {TARGET_S:g} s; {load()}"
        f"\n    all: {', '.join(f'{s:.1f}' for s in seconds)} s; the first {first.seconds:.1f} s; "
        f"{cpu_s:.1f} s of CPU, {cpu_s / N_PEOPLE * 1e6:.0f} us a person; "
        f"{result.usage.crowd()}; {result.usage.memory()}"
    )
    for report in rounds:
        assert report.n_answered == N_PEOPLE
        assert report.outcome.stats["seen"] == 5 * N_PEOPLE
    assert cpu_s < 3 * TARGET_S

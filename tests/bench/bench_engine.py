"""The engine as a whole, through the real path, seen from outside; beside each figure the machine's load.

    pytest -m bench -s tests/bench/bench_engine.py [-k NAME]

BENCH_AGENTS=10000000 adds a size to those over which the cost of a step is compared.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from tests.bench.machine import MB, Usage, Watch, load
from tests.bench.runs import MILLION, ROOT, Run, run
from tests.fakes.packages import install

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

SIZES = sorted({10_000, 100_000, 1_000_000, int(os.environ.get("BENCH_AGENTS", "10_000"))})


@cache
def round_of(n_agents: int) -> Run:
    """One round of the guessing game whose model takes a second."""
    return run(MILLION, f"population.size={n_agents}", "scenario.rounds=1")


def show(figure: str, usage: Usage | None = None, *details: str) -> None:
    crowd = f", {usage.crowd()}" if usage else ""
    print("\n  " + "\n    ".join([f"{figure}; {load()}{crowd}", *details]))


def test_a_round_of_a_million() -> None:
    """Target: 25 us of CPU a step, 15 s of wall time on two quiet cores, 1.5 GB."""
    result = round_of(1_000_000)
    usage, (report,) = result.usage, result.rounds
    show(
        f"{result.us_per_step:.1f} us of CPU a step, round {report.seconds:.1f} s",
        usage,
        f"with start and end: {usage.cpu_s / result.n_agents * 1e6:.1f} us, {usage.wall_s:.1f} s",
        usage.memory(),
        str(report.split),
    )
    assert report.n_answered == 1_000_000
    assert result.us_per_step < 75
    assert usage.peak < 1500 * MB


@pytest.mark.parametrize(("messages", "least"), [("one", 2.0), ("many", 1.0)])
def test_against_a_task_per_agent(tmp_path: Path, messages: str, least: float) -> None:
    """Target: 3 times the CPU. Both sides are whole programs, from start to end."""
    n_agents = 200_000
    arguments = [str(n_agents), str(tmp_path / "b.db"), messages]
    with Watch() as watch:
        subprocess.run([sys.executable, "-m", "tests.bench.task_per_agent", *arguments], cwd=ROOT, check=True)
    ours, theirs = round_of(n_agents).usage, watch.usage
    us, us_other = (usage.cpu_s / n_agents * 1e6 for usage in (ours, theirs))
    show(
        f"a task an agent, {messages} to a message: x{us_other / us:.1f} CPU ({us_other:.0f} to {us:.0f} us)",
        theirs,
        f"x{theirs.wall_s / ours.wall_s:.1f} wall; {theirs.memory()} to {ours.memory()}",
    )
    assert us_other > least * us


def test_the_cost_of_a_step_stays_flat() -> None:
    """Target: within 1.5 times from 10,000 agents on."""
    results = [round_of(size) for size in SIZES]
    for result in results:
        usage, (report,) = result.usage, result.rounds
        bytes_each = (usage.peak - results[0].usage.peak) / result.n_agents
        show(
            f"{result.n_agents:,} agents: {result.us_per_step:.1f} us of CPU a step, {report.seconds:.1f} s",
            usage,
            f"{usage.memory()}, {bytes_each:.0f} bytes more an agent",
        )
    costs = [result.us_per_step for result in results]
    show(f"the dearest step costs x{max(costs) / min(costs):.2f} the cheapest")
    assert max(costs) < 2.5 * min(costs)


TALK = """
name = "talk"
[scenario]
name = "talk"
rounds = 4
[population]
size = 20_000
[model]
backend = "dummy"
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("way", "talkers", "kept"),
    [
        ("tell", 20_000, "none"),
        ("tell", 20_000, "all"),
        ("broadcast", 19_999, "none"),
        ("ask", 10_000, "all"),
        ("call", 10_000, "all"),
    ],
)
def test_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, talkers: int, kept: str, workers: int
) -> None:
    """Messages sent, carried, handled and, if asked, answered; with two workers, from one to the other.

    Targets: 300,000 a second told within a worker and 150,000 between two, without transcripts (with them
    each is a row of the run file); 200,000 and 80,000 calls of an environment, which are all journalled.
    """
    install(tmp_path, "talk", "tests.bench.talk:Talk", monkeypatch)
    settings = (f"scenario.way={way}", f"engine.workers={workers}", f"journal.transcripts={kept}")
    result = run(TALK, *settings)
    rounds = result.rounds[1:]
    heard = sum(int(report.outcome.stats["heard"] or 0) for report in rounds)
    seconds, cpu_s = sum(r.seconds for r in rounds), sum(r.cpu_s for r in rounds)
    busy_s = sum(r.split.agents_s + r.split.messages_s for r in rounds) / heard * 1e6
    where = "within a worker" if workers == 1 else "between two workers"
    show(
        f"{way} {where}, transcripts {kept}: {heard / seconds:,.0f} a second, "
        f"{busy_s:.1f} us of a worker and {cpu_s / heard * 1e6:.1f} us of CPU of all processes each",
        result.usage,
    )
    assert heard == len(rounds) * 10 * talkers
    assert heard / seconds > 5_000


def test_help_comes_at_once() -> None:
    """Target: 0.3 s."""
    program = Path(sys.executable).with_name("simtui")

    def once() -> float:
        started = time.perf_counter()
        subprocess.run([program, "--help"], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started

    seconds = statistics.median(once() for _ in range(10))
    show(f"simtui --help: {seconds:.2f} s, median of 10")
    assert seconds < 2

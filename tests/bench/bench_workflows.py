"""A workflow of 100,000 calls that depend on each other at random, against its critical path.

pytest -m bench -s tests/bench/bench_workflows.py
"""

from __future__ import annotations

import asyncio
import random
import resource
import time

import pytest

from engine.workflows.methods import concurrent
from engine.workflows.session import Workflow
from tests.bench.machine import load

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

N_CALLS, N_OBJECTS, N_WORKERS, WAIT_S = 100_000, 100, 2, 1.0


class Node:
    @concurrent
    async def leaf(self, seed: int) -> int:
        """Wait as for a model."""
        await asyncio.sleep(WAIT_S)
        return seed

    @concurrent
    def combine(self, one: int, other: int) -> int:
        return (31 * one + other) % 1_000_003


def graph(seed: int) -> list[tuple[int, int] | None]:
    """Half of the calls are leaves, the others take the values of two earlier calls."""
    draw = random.Random(seed)
    nodes: list[tuple[int, int] | None] = [None, None]
    for at in range(2, N_CALLS):
        nodes.append(None if draw.random() < 0.5 else (draw.randrange(at), draw.randrange(at)))
    return nodes


def plain_values(nodes: list[tuple[int, int] | None]) -> list[int]:
    values: list[int] = []
    for at, node in enumerate(nodes):
        values.append(at if node is None else (31 * values[node[0]] + values[node[1]]) % 1_000_003)
    return values


def cpu_s(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def test_a_random_graph_takes_its_critical_path_and_its_cpu_time() -> None:
    """The critical path is one leaf, 1 s; the target is 1.2 times that and the CPU of all processes."""
    nodes = graph(1)
    expected = plain_values(nodes)
    began, cpu = time.perf_counter(), cpu_s(resource.RUSAGE_SELF) + cpu_s(resource.RUSAGE_CHILDREN)
    with Workflow(workers=N_WORKERS) as workflow:
        objects = [workflow.distribute(Node()) for _ in range(N_OBJECTS)]
        issuing = time.perf_counter()
        values: list[int] = []
        for at, node in enumerate(nodes):
            target = objects[at % N_OBJECTS]
            values.append(
                target.leaf(at) if node is None else target.combine(values[node[0]], values[node[1]])
            )  # type: ignore[arg-type]
        issued = time.perf_counter() - issuing
        found = [int(value) for value in values[-100:]]
        workflow.close()
    wall = time.perf_counter() - began
    cpu = cpu_s(resource.RUSAGE_SELF) + cpu_s(resource.RUSAGE_CHILDREN) - cpu
    ratio = wall / (WAIT_S + cpu)
    print(
        f"\n  {N_CALLS:,} calls in a random graph: {wall:.1f} s = {ratio:.2f} x ({WAIT_S:.0f} s critical path"
        f" + {cpu:.1f} s CPU); {issued / N_CALLS * 1e6:.0f} us to issue a call; {load()}"
    )
    assert found == expected[-100:]
    assert ratio < 1.2

"""Workflows with real processes: the same answers, overlap, failures, and nobody left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from engine.errors import UsageError, WorkerLost
from engine.workflows.failures import RemoteError, Unsendable
from engine.workflows.methods import concurrent
from engine.workflows.pending import Pending
from engine.workflows.session import Workflow, fetch
from simtui import Agent

ROOT = Path(__file__).parents[2]
PLACEMENTS = [None, 1, 2, 5]


class Draft(msgspec.Struct):
    words: list[str]
    version: int = 0


class NotGoodEnough(Exception):
    pass


class Writer:
    name = "Ada"

    def __init__(self) -> None:
        self.written = 0

    def write(self, topic: str, notes: list[int]) -> Draft:
        self.written += 1
        return Draft([topic, *map(str, notes)], self.written)

    def revise(self, draft: Draft, wishes: dict[str, int]) -> Draft:
        self.written += 1
        return Draft([*draft.words, *sorted(wishes)], draft.version + 1)

    def pid(self) -> int:
        return os.getpid()


class Critic:
    def score(self, draft: Draft) -> int:
        return 3 * draft.version + len(draft.words)

    async def wait(self, seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    @concurrent
    async def look(self, seconds: float) -> float:
        return await self.wait(seconds)

    def refuse(self, draft: Draft) -> int:
        raise NotGoodEnough(f"version {draft.version}")

    def give_up(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def thing(self) -> object:
        return object()

    def pid(self) -> int:
        return os.getpid()


def workflow(writer: Writer, critic: Critic) -> list[object]:
    """Plain sequential code: nested arguments, a loop with an early exit, conditions, arithmetic, errors."""
    one, two = critic.score(Draft(["a"])), critic.score(Draft(["b", "c"], 2))
    draft = writer.write("topic", [one, two])
    for turn in range(5):
        score = critic.score(draft)
        if score > 12:
            break
        draft = writer.revise(draft, {f"wish {turn}": score})
    try:
        total = critic.refuse(draft) + 1
    except NotGoodEnough as error:
        total = len(str(error).splitlines()[0]) > 0
    return [
        score + 1,
        2 * score,
        f"{score}",
        draft.words[0],
        sorted(draft.words),
        draft,
        total,
        writer.written,
    ]


def test_the_answer_is_that_of_the_objects_themselves() -> None:
    expected = workflow(Writer(), Critic())
    for workers in [0, *PLACEMENTS]:
        with Workflow(workers) as session:
            found = fetch(workflow(session.distribute(Writer()), session.distribute(Critic())))
        assert found == expected, workers


@pytest.mark.parametrize(("workers", "processes"), [(None, 4), (1, 1), (3, 3)])
def test_placement_is_a_setting(workers: int | None, processes: int) -> None:
    with Workflow(workers) as session:
        writers = [session.distribute(Writer()) for _ in range(4)]
        pids = set(fetch([writer.pid() for writer in writers]))
    assert len(pids) == processes
    assert os.getpid() not in pids


def test_an_object_distributed_later_gets_a_new_process_and_knows_the_others() -> None:
    with Workflow(1) as session:
        writer = session.distribute(Writer())
        draft = writer.write("x", [])
        first = int(writer.pid())
        critic = session.distribute(Critic())
        assert critic.score(draft) == 4
        assert int(critic.pid()) != first
        back = writer.write("y", [critic.score(draft)])
        assert back.words == ["y", "4"]


def test_what_does_not_depend_overlaps_and_the_report_says_so() -> None:
    began = time.monotonic()
    with Workflow(2) as session:
        critics = [session.distribute(Critic()) for _ in range(6)]
        waits = [critic.wait(0.3) for critic in critics] + [critics[0].look(0.3) for _ in range(6)]
        assert fetch(waits) == [0.3] * 12
        report = session.report()
    assert time.monotonic() - began < 12 * 0.3
    assert report.calls == 12
    assert 0.6 <= report.critical_path_s < report.work_s / 2
    assert [step.method for step in report.steps] == ["Critic.wait of object 0", "Critic.look of object 0"]
    assert "12 calls" in str(report)


def test_an_exception_comes_with_both_tracebacks() -> None:
    with Workflow() as session:
        critic = session.distribute(Critic())
        score = critic.refuse(Draft([], 7))
        with pytest.raises(NotGoodEnough) as caught:
            print(score + 1)
    assert isinstance(caught.value, RemoteError)
    text = "".join(traceback.format_exception(caught.value))
    assert "print(score + 1)" in text
    assert 'raise NotGoodEnough(f"version {draft.version}")' in text
    assert "Critic.refuse" in str(caught.value)


def test_an_exception_that_nobody_saw_is_raised_at_the_end() -> None:
    session = Workflow()
    with pytest.raises(NotGoodEnough), session:
        session.distribute(Critic()).refuse(Draft([]))


@pytest.mark.parametrize("value", [object(), {1, 2}, lambda: 1])
def test_an_argument_that_cannot_be_sent_is_named_at_once(value: object) -> None:
    with Workflow(1) as session:
        critic = session.distribute(Critic())
        with pytest.raises(Unsendable, match=r"Critic\.wait.*'seconds'"):
            critic.wait(value)  # type: ignore[arg-type]


def test_a_result_that_cannot_be_sent_is_named_where_it_is_used() -> None:
    with Workflow(1) as session:
        thing = session.distribute(Critic()).thing()
        with pytest.raises(UsageError, match=r"Critic\.thing: the result contains what cannot"):
            str(thing)


def test_wrong_names_assignments_and_late_uses_are_refused() -> None:
    with Workflow(1) as session:
        writer = session.distribute(Writer())
        with pytest.raises(AttributeError, match="wriet"):
            writer.wriet("x")  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match="another process"):
            writer.written = 3
        assert writer.name == "Ada"
        draft = writer.write("x", [])
    with pytest.raises(UsageError, match="workflow is over"):
        print(draft)
    with pytest.raises(UsageError, match="workflow is over"):
        writer.write("x", [])


def test_await_lets_other_tasks_go_on() -> None:
    async def main() -> list[float]:
        with Workflow(1) as session:
            critics = [session.distribute(Critic()) for _ in range(2)]
            results = [critic.wait(0.05) for critic in critics]
            return list(await asyncio.gather(*(asyncio.ensure_future(value_of(each)) for each in results)))

    async def value_of(pending: Pending) -> float:
        return await pending

    assert asyncio.run(main()) == [0.05, 0.05]


def test_a_worker_that_is_killed_fails_what_depends_on_it_and_nothing_else() -> None:
    with Workflow() as session:
        writer, critic, other = (session.distribute(each) for each in (Writer(), Critic(), Critic()))
        draft = writer.write("x", [])
        waiting = writer.revise(draft, {"wish": critic.wait(60)})
        after = other.score(waiting)
        os.kill(_pid_of(session, 1), signal.SIGKILL)
        with pytest.raises(WorkerLost, match="killed by SIGKILL"):
            print(after)
        with pytest.raises(WorkerLost):
            critic.score(draft).value()
        assert other.score(draft) == 4
        assert writer.write("y", []).version == 2


def test_a_loss_that_nobody_saw_is_raised_at_the_end() -> None:
    session = Workflow()
    with pytest.raises(WorkerLost, match="SIGKILL"), session:
        session.distribute(Critic()).give_up()


def _pid_of(session: Workflow, number: int) -> int:
    assert session._processes
    return session._processes._all[number].pid or 0


@pytest.fixture(autouse=True)
def _nobody_is_left() -> Iterator[None]:
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) - before == set()


def test_an_exception_in_the_workflow_ends_all_at_once() -> None:
    began = time.monotonic()
    session = Workflow(2)
    with pytest.raises(ZeroDivisionError), session:
        print(session.distribute(Critic()).wait(60), 1 / 0)
    assert time.monotonic() - began < 30


SCRIPT = """
import asyncio
from simtui import distribute
class Sleeper:
    async def sleep(self):
        await asyncio.sleep(600)
    def pid(self):
        import os
        return os.getpid()
sleeper = distribute(Sleeper())
other = distribute(Sleeper())
print(int(sleeper.pid()), int(other.pid()), flush=True)
print(sleeper.sleep())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_script_that_is_ended_leaves_no_process(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True
    ) as script:
        assert script.stdout
        workers = [psutil.Process(int(pid)) for pid in script.stdout.readline().split()]
        assert len(workers) == 2
        script.send_signal(number)
        script.wait(timeout=20)
        _, alive = psutil.wait_procs(workers, timeout=20)
        assert alive == []
        assert script.returncode != 0


class Counter(Agent):
    def __init__(self, agent_id: int) -> None:
        super().__init__(agent_id)
        self.count = 0

    def add(self, number: int) -> int:
        self.count = (self.count + number) % 97
        return self.count


def test_agents_have_the_name_of_the_study_for_it() -> None:
    with Workflow():
        counter = Counter(3).to_dist()
        assert counter.add(counter.add(2)) == 4
        assert counter.id == 3


def test_many_calls_in_a_chain_give_what_they_give_here() -> None:
    """Values that nobody here refers to any more are still there for calls that wait for them."""

    def chain(counters: list[Counter]) -> int:
        last = 1
        for at in range(1000):
            last = counters[at * at % 7].add(last)
            if at % 50 == 49:
                last = last % 89
        return last % 97

    expected = chain([Counter(at) for at in range(7)])
    with Workflow(3) as session:
        assert chain([session.distribute(Counter(at)) for at in range(7)]) == expected

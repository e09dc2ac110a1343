"""Ordinary asyncio awaitables inside agents, and the deadlines of agents that wait or compute too long."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from engine.agents.scheduler import DeadlineExceeded, Scheduler
from tests.fakes.turns import Clock, Endings, Wish, start

DEADLINE_S = 10.0


class Bench:
    """A scheduler on a running event loop, whose clock is the test's."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.woken = asyncio.Event()
        self.scheduler = Scheduler(clock=self.clock, deadline_s=DEADLINE_S, wake=self.woken.set)
        self.endings = Endings()

    async def until_ended(self, n: int = 1) -> None:
        """Run what is ready and what the loop brings, as a worker does."""
        async with asyncio.timeout(10):
            while self.endings.n < n:
                self.scheduler.run_ready()
                await asyncio.sleep(0)


def play(test: Callable[[Bench], Awaitable[None]]) -> None:
    async def main() -> None:
        await test(Bench())

    asyncio.run(main())


async def pause() -> str:
    for _ in range(3):
        await asyncio.sleep(0)
    return "paused"


async def timer() -> str:
    await asyncio.sleep(0.001)
    return "slept"


async def event() -> str:
    happened = asyncio.Event()
    asyncio.get_running_loop().call_soon(happened.set)
    await happened.wait()
    return "happened"


async def task() -> str:
    return await asyncio.create_task(pause())


async def several_tasks() -> list[str]:
    return await asyncio.gather(pause(), timer())


async def thread() -> str:
    return await asyncio.to_thread(str.upper, "thread")


async def limited() -> str:
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 0.001)
    except TimeoutError:
        return "gave up"
    return "never"


async def done_future() -> str:
    future = asyncio.get_running_loop().create_future()
    future.set_result("at once")
    return await future


async def queue() -> str:
    waiting: asyncio.Queue[str] = asyncio.Queue()
    asyncio.get_running_loop().call_soon(waiting.put_nowait, "queued")
    return await waiting.get()


@pytest.mark.parametrize(
    ("awaits", "result"),
    [
        (pause, "paused"),
        (timer, "slept"),
        (event, "happened"),
        (task, "paused"),
        (several_tasks, ["paused", "slept"]),
        (thread, "THREAD"),
        (limited, "gave up"),
        (done_future, "at once"),
        (queue, "queued"),
    ],
)
def test_asyncio_awaitables_work_in_an_agent(awaits: Callable[[], Any], result: Any) -> None:
    async def test(bench: Bench) -> None:
        for agent_id in range(3):
            start(bench.scheduler, awaits(), bench.endings, agent_id)
        await bench.until_ended(3)
        assert bench.endings.values == dict.fromkeys(range(3), result)

    play(test)


def test_an_error_of_a_task_is_raised_in_the_agent() -> None:
    async def fails() -> None:
        raise KeyError("inside")

    async def awaits() -> None:
        await asyncio.create_task(fails())

    async def test(bench: Bench) -> None:
        start(bench.scheduler, awaits(), bench.endings)
        await bench.until_ended()
        assert isinstance(bench.endings.errors[0], KeyError)

    play(test)


def test_an_effect_inside_a_task_is_an_error_of_that_agent() -> None:
    async def awaits() -> None:
        await asyncio.create_task(wish())

    async def wish() -> None:
        await Wish([])

    async def test(bench: Bench) -> None:
        start(bench.scheduler, awaits(), bench.endings)
        await bench.until_ended()
        assert isinstance(bench.endings.errors[0], RuntimeError)

    play(test)


def test_an_agent_that_goes_on_wakes_the_worker() -> None:
    async def test(bench: Bench) -> None:
        begun: list[Wish] = []

        async def sleeps_then_wishes() -> None:
            await asyncio.sleep(0.001)
            await Wish(begun)

        start(bench.scheduler, sleeps_then_wishes(), bench.endings)
        async with asyncio.timeout(10):
            await bench.woken.wait()
        assert len(begun) == 1, "its request is there to be sent"

    play(test)


def test_pauses_let_others_run_first() -> None:
    order: list[str] = []

    async def polite() -> None:
        order.append("first")
        await asyncio.sleep(0)
        order.append("third")

    async def quick() -> None:
        order.append("second")

    async def test(bench: Bench) -> None:
        start(bench.scheduler, polite(), bench.endings, 0)
        start(bench.scheduler, quick(), bench.endings, 1)
        await bench.until_ended(2)

    play(test)
    assert order == ["first", "second", "third"]


# deadlines


async def forever() -> None:
    await asyncio.Event().wait()


def test_waiting_past_the_deadline_raises_in_the_agent() -> None:
    async def test(bench: Bench) -> None:
        start(bench.scheduler, forever(), bench.endings)
        bench.clock.now = DEADLINE_S
        bench.scheduler.expire()
        assert bench.endings.n == 0
        bench.clock.now += 0.1
        bench.scheduler.expire()
        assert isinstance(bench.endings.errors[0], DeadlineExceeded)
        assert "10 s" in str(bench.endings.errors[0])

    play(test)


def test_the_deadline_counts_from_the_last_wait() -> None:
    async def test(bench: Bench) -> None:
        gates = [asyncio.Event(), asyncio.Event()]

        async def twice() -> None:
            for gate in gates:
                await gate.wait()

        start(bench.scheduler, twice(), bench.endings)
        bench.clock.now = 9.0
        gates[0].set()
        await asyncio.sleep(0)
        bench.clock.now = 18.0
        bench.scheduler.expire()
        assert bench.endings.n == 0

    play(test)


def test_an_effect_has_no_deadline_of_the_scheduler() -> None:
    async def wish() -> None:
        await Wish([])

    async def test(bench: Bench) -> None:
        start(bench.scheduler, wish(), bench.endings)
        bench.clock.now = 100 * DEADLINE_S
        bench.scheduler.expire()
        assert bench.endings.n == 0

    play(test)


def test_an_awaitable_that_was_given_up_ends_no_later_wait() -> None:
    async def test(bench: Bench) -> None:
        first, second = (asyncio.get_running_loop().create_future() for _ in range(2))

        async def goes_on() -> str:
            with pytest.raises(DeadlineExceeded):
                await first
            return str(await second)

        start(bench.scheduler, goes_on(), bench.endings)
        bench.clock.now = DEADLINE_S + 1
        bench.scheduler.expire()
        first.set_result("too late")
        for _ in range(3):
            await asyncio.sleep(0)
        assert bench.endings.n == 0
        second.set_result("second")
        await bench.until_ended()
        assert bench.endings.values == {0: "second"}

    play(test)


@pytest.fixture
def looked_at() -> tuple[Scheduler, Clock, Endings]:
    clock = Clock()
    return Scheduler(clock=clock, deadline_s=DEADLINE_S, wake=lambda: None), clock, Endings()


def test_computing_past_the_deadline_is_interrupted(looked_at: tuple[Scheduler, Clock, Endings]) -> None:
    scheduler, clock, endings = looked_at
    looks = 0

    async def computes() -> None:
        nonlocal looks
        while True:
            clock.now += 4.0
            scheduler.interrupt_if_stuck()  # what the signal handler calls, in the middle of the agent's code
            looks += 1

    start(scheduler, computes(), endings)
    assert isinstance(endings.errors[0], DeadlineExceeded)
    assert looks == 3
    assert "10 s" in str(endings.errors[0])


def test_many_short_turns_are_not_one_long_one(looked_at: tuple[Scheduler, Clock, Endings]) -> None:
    scheduler, clock, endings = looked_at

    async def computes() -> None:
        clock.now += 6.0
        scheduler.interrupt_if_stuck()

    for agent_id in range(10):
        start(scheduler, computes(), endings, agent_id)
    assert len(endings.values) == 10


def test_nobody_is_interrupted_while_nobody_computes(looked_at: tuple[Scheduler, Clock, Endings]) -> None:
    scheduler, clock, endings = looked_at
    begun: list[Wish] = []

    async def wishes() -> None:
        await Wish(begun)

    start(scheduler, wishes(), endings)
    for _ in range(10):
        clock.now += 6.0
        scheduler.interrupt_if_stuck()
    scheduler.complete(begun[0], None)
    assert endings.values == {0: None}

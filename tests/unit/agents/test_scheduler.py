"""The trampoline: waiting, gathering, and whatever an agent's code may do wrong."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from engine.agents.effects import Effect, gather
from engine.agents.scheduler import Scheduler
from tests.fakes.turns import Clock, Endings, Refused, Wish, start

DEADLINE_S = 10.0
Script = Callable[[list[Wish]], Coroutine[Any, Any, Any]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def scheduler(clock: Clock) -> Scheduler:
    return Scheduler(clock=clock, deadline_s=DEADLINE_S, wake=lambda: None)


@pytest.fixture
def endings() -> Endings:
    return Endings()


async def two_wishes(begun: list[Wish]) -> tuple[Any, Any]:
    return await Wish(begun), await Wish(begun)


def test_a_turn_runs_to_its_first_wait_and_on_from_there(scheduler: Scheduler, endings: Endings) -> None:
    begun: list[Wish] = []
    activation = start(scheduler, two_wishes(begun), endings)
    assert scheduler.active == {0: activation}
    scheduler.complete(begun[0], "first")
    assert len(begun) == 2
    assert endings.n == 0
    scheduler.complete(begun[1], "second")
    assert endings.values == {0: ("first", "second")}
    assert scheduler.active == {}
    assert scheduler.running is None


def test_many_turns_wait_at_once(scheduler: Scheduler, endings: Endings) -> None:
    begun: list[Wish] = []
    for agent_id in range(100):
        start(scheduler, two_wishes(begun), endings, agent_id)
    for n in reversed(range(100)):
        scheduler.complete(begun[n], n)
    for wish in begun[100:]:
        scheduler.complete(wish, "b")
    assert endings.values == {n: (n, "b") for n in range(100)}


def test_an_error_is_raised_where_the_effect_is_awaited(scheduler: Scheduler, endings: Endings) -> None:
    async def careful(begun: list[Wish]) -> str:
        try:
            await Wish(begun)
        except ValueError as error:
            return f"caught {error}"
        return "missed it"

    begun: list[Wish] = []
    start(scheduler, careful(begun), endings)
    scheduler.fail(begun[0], ValueError("this"))
    assert endings.values == {0: "caught this"}


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), SystemExit(3), GeneratorExit(), asyncio.CancelledError(), MemoryError()],
    ids=repr,
)
def test_whatever_leaves_a_turn_ends_that_turn_alone(
    scheduler: Scheduler, endings: Endings, error: BaseException
) -> None:
    async def raises() -> None:
        raise error

    begun: list[Wish] = []
    start(scheduler, two_wishes(begun), endings, 0)
    start(scheduler, raises(), endings, 1)
    assert endings.errors == {1: error}
    assert list(scheduler.active) == [0]
    assert scheduler.running is None


def test_stop_iteration_is_an_error_not_a_value(scheduler: Scheduler, endings: Endings) -> None:
    async def raises() -> None:
        raise StopIteration(7)

    start(scheduler, raises(), endings)
    assert isinstance(endings.errors[0], RuntimeError)


def test_an_effect_that_cannot_begin_raises_in_the_agent(scheduler: Scheduler, endings: Endings) -> None:
    async def careful() -> str:
        with pytest.raises(ValueError, match="refused"):
            await Refused()
        return "went on"

    start(scheduler, careful(), endings)
    assert endings.values == {0: "went on"}


def test_effects_that_end_at_once_need_no_deep_stack(scheduler: Scheduler, endings: Endings) -> None:
    async def stubborn() -> int:
        for _ in range(2 * sys.getrecursionlimit()):
            try:
                await Refused()
            except ValueError:
                continue
        return 7

    start(scheduler, stubborn(), endings)
    assert endings.values == {0: 7}


class Rubbish:
    """Awaits something that is no effect."""

    def __init__(self, thing: object) -> None:
        self._thing = thing

    def __await__(self) -> Any:
        yield self._thing


@pytest.mark.parametrize("thing", [7, "text", object(), Effect])
def test_rubbish_cannot_be_awaited(scheduler: Scheduler, endings: Endings, thing: object) -> None:
    async def awaits() -> None:
        await Rubbish(thing)

    start(scheduler, awaits(), endings)
    assert isinstance(endings.errors[0], TypeError)
    assert "cannot await" in str(endings.errors[0])


# gather


def test_gather_returns_values_in_order_whatever_comes_first(scheduler: Scheduler, endings: Endings) -> None:
    begun: list[Wish] = []

    async def gathers() -> list[Any]:
        return await gather(Wish(begun), Wish(begun), gather(Wish(begun), gather()))

    start(scheduler, gathers(), endings)
    assert len(begun) == 3
    for n in (2, 0):
        scheduler.complete(begun[n], n)
    scheduler.run_ready()
    assert endings.n == 0
    scheduler.complete(begun[1], 1)
    assert endings.values == {0: [0, 1, [2, []]]}


def test_gather_of_nothing(scheduler: Scheduler, endings: Endings) -> None:
    async def gathers() -> list[Any]:
        return await gather()

    start(scheduler, gathers(), endings)
    scheduler.run_ready()
    assert endings.values == {0: []}


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 3, 0, 1)])
def test_gather_raises_the_first_error_in_order_when_all_have_ended(
    scheduler: Scheduler, endings: Endings, order: tuple[int, ...]
) -> None:
    begun: list[Wish] = []

    async def gathers() -> Any:
        try:
            await gather(*(Wish(begun) for _ in range(4)))
        except ValueError as error:
            return str(error), await Wish(begun)

    start(scheduler, gathers(), endings)
    for n in order:
        assert len(begun) == 4, "nobody goes on while a part is still out"
        if n in (1, 2):
            scheduler.fail(begun[n], ValueError(f"part {n}"))
        else:
            scheduler.complete(begun[n], n)
    scheduler.complete(begun[4], "next")
    assert endings.values == {0: ("part 1", "next")}


@pytest.mark.parametrize("late", ["value", "error"])
def test_a_part_that_cannot_begin_is_one_that_fails(
    scheduler: Scheduler, endings: Endings, late: str
) -> None:
    begun: list[Wish] = []

    async def gathers() -> Any:
        try:
            await gather(Refused(), Wish(begun))
        except ValueError:
            return await Wish(begun)

    start(scheduler, gathers(), endings)
    scheduler.run_ready()
    if late == "value":
        scheduler.complete(begun[0], "of no use")
    else:
        scheduler.fail(begun[0], RuntimeError("not the first"))
    scheduler.complete(begun[1], "next")
    assert endings.values == {0: "next"}


def test_gather_takes_effects_only(scheduler: Scheduler, endings: Endings) -> None:
    async def gathers() -> Any:
        coroutine = asyncio.sleep(0)
        try:
            await gather(coroutine)  # type: ignore[arg-type]
        finally:
            coroutine.close()

    start(scheduler, gathers(), endings)
    assert isinstance(endings.errors[0], TypeError)
    assert "gather" in str(endings.errors[0])


def test_what_comes_after_a_turn_has_ended_is_dropped(scheduler: Scheduler, endings: Endings) -> None:
    begun: list[Wish] = []

    async def wishes() -> Any:
        await Wish(begun)

    start(scheduler, wishes(), endings)
    scheduler.fail(begun[0], ValueError("ends the turn"))
    assert set(endings.errors) == {0}
    scheduler.complete(begun[0], "late")
    assert endings.n == 1


# what is put off


def test_later_waits_for_run_ready(scheduler: Scheduler, endings: Endings) -> None:
    begun: list[Wish] = []
    start(scheduler, two_wishes(begun), endings)
    scheduler.later(begun[0], 1)
    assert scheduler.has_ready
    assert len(begun) == 1
    scheduler.run_ready()
    assert not scheduler.has_ready
    scheduler.later(begun[1], None, ValueError("late"))
    scheduler.run_ready()
    assert isinstance(endings.errors[0], ValueError)


def test_run_ready_does_what_was_there_when_it_began(scheduler: Scheduler, endings: Endings) -> None:
    class Again(Effect):
        def begin(self, scheduler: Scheduler) -> None:
            scheduler.later(self, None)

    async def restless() -> None:
        for _ in range(3):
            await Again()

    start(scheduler, restless(), endings)
    for _ in range(2):
        scheduler.run_ready()
        assert scheduler.has_ready
    scheduler.run_ready()
    assert endings.values == {0: None}

"""The core of a worker, without processes: order within an object, overlap, paths, losses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from engine.workflows.methods import concurrent
from engine.workflows.report import report_on
from engine.workflows.values import PENDING
from engine.workflows.wire import MAIN, Call, Forward, Lost, Release, Settle, Settled, Source, Value
from engine.workflows.worker import Crew, Worker


class Log:
    def __init__(self) -> None:
        self.log: list[str] = []
        self.gate = asyncio.Event()

    def note(self, word: str) -> list[str]:
        self.log.append(word)
        return self.log

    async def slowly(self, word: str) -> str:
        self.log.append(f"{word} begins")
        await self.gate.wait()
        self.log.append(f"{word} ends")
        return word

    @concurrent
    async def peek(self, word: str) -> str:
        return await self.slowly(word)

    def fail(self) -> None:
        raise KeyError("no such page")


class Bench:
    def __init__(self) -> None:
        self.target = Log()
        self.sent: list[tuple[int, Value | Settled]] = []
        loop = asyncio.get_running_loop()
        crew = Crew(0, {0: self.target}, [Log], {})
        self.worker = Worker(crew, lambda to, news: self.sent.append((to, news)), loop.call_soon)
        self._calls = 0

    def call(self, method: str, *words: Any, after: Source | None = None) -> Source:
        self._calls += 1
        args = [msgspec.msgpack.encode(word) for word in words]
        if after:
            reference = msgspec.msgpack.Ext(PENDING, after.call.to_bytes(8, "little"))
            args.append(msgspec.msgpack.encode(reference))
        self.worker.handle(Call(self._calls, 0, method, args, {}, [after] if after else []))
        return Source(self._calls, 0, 0, method)

    async def idle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)


def playing(play: Callable[[Bench], Any]) -> None:
    async def main() -> None:
        await play(Bench())

    asyncio.run(main())


def test_calls_of_an_object_end_before_the_next_begins() -> None:
    async def play(bench: Bench) -> None:
        bench.call("slowly", "first")
        bench.call("note", "second")
        await bench.idle()
        assert bench.target.log == ["first begins"]
        bench.target.gate.set()
        await bench.idle()
        assert bench.target.log == ["first begins", "first ends", "second"]

    playing(play)


def test_concurrent_calls_overlap_but_keep_their_place_among_others() -> None:
    async def play(bench: Bench) -> None:
        bench.call("note", "before")
        bench.call("peek", "one")
        bench.call("peek", "two")
        bench.call("note", "after")
        await bench.idle()
        assert bench.target.log == ["before", "one begins", "two begins"]
        bench.target.gate.set()
        await bench.idle()
        assert bench.target.log[-1] == "after"

    playing(play)


def test_a_call_waits_for_a_value_from_elsewhere_and_others_of_its_object_for_it() -> None:
    async def play(bench: Bench) -> None:
        bench.call("note", after=Source(900, 1, 0, "slowly"))
        bench.call("note", "later")
        await bench.idle()
        assert bench.target.log == []
        bench.worker.handle(Value(900, msgspec.msgpack.encode("there"), None, 5.0))
        bench.worker.handle(Settle(1, True))
        await bench.idle()
        assert bench.target.log == ["there", "later"]
        ((_, settled),) = bench.sent
        assert isinstance(settled, Settled)
        report = report_on(settled.records, ["Log"], 0.0)
        assert report.critical_path_s > 5.0
        assert report.work_s < 5.0

    playing(play)


def test_a_value_is_sent_on_whether_it_is_asked_for_early_or_late_and_outlives_its_release() -> None:
    async def play(bench: Bench) -> None:
        source = bench.call("slowly", "word")
        bench.worker.handle(Forward(source.call, 3))
        bench.worker.handle(Release([source.call]))
        bench.target.gate.set()
        await bench.idle()
        late = bench.call("note", "x")
        await bench.idle()
        bench.worker.handle(Forward(late.call, MAIN))
        assert [(to, news.data) for to, news in bench.sent if isinstance(news, Value)] == [
            (3, msgspec.msgpack.encode("word")),
            (MAIN, msgspec.msgpack.encode(["word begins", "word ends", "x"])),
        ]

    playing(play)


def test_a_failure_goes_to_all_that_depend_on_it_which_are_not_carried_out() -> None:
    async def play(bench: Bench) -> None:
        failed = bench.call("fail")
        dependent = bench.call("note", after=failed)
        bench.worker.handle(Forward(dependent.call, MAIN))
        await bench.idle()
        ((_, news),) = bench.sent
        assert isinstance(news, Value)
        assert news.failure
        assert news.failure.call == failed.call
        assert "no such page" in news.failure.trace
        assert bench.target.log == []
        error = news.failure.exception()
        assert isinstance(error, KeyError)
        assert error.remote_traceback == news.failure.trace

    playing(play)


@pytest.mark.parametrize("call_comes_first", [True, False])
def test_what_waits_for_a_lost_worker_fails(call_comes_first: bool) -> None:
    async def play(bench: Bench) -> None:
        steps = [lambda: bench.call("note", after=Source(900, 1, 0, "slowly"))]
        steps.append(lambda: bench.worker.handle(Lost(1, "worker-1 was killed")))
        for step in steps if call_comes_first else steps[::-1]:
            step()
        bench.worker.handle(Forward(1, MAIN))
        await bench.idle()
        ((_, news),) = bench.sent
        assert isinstance(news, Value)
        assert news.failure
        assert "worker-1 was killed" in str(news.failure.exception())

    playing(play)

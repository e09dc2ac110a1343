"""Servers that misbehave: every request is answered exactly once, and as well as can be."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable
from random import Random

import pytest

from engine.models.answers import Number, Text
from engine.models.protocol import Finish, Result, Sampling
from engine.models.vllm import breaker, retry, window
from tests.fakes.http_backend import Service, service
from tests.fakes.model_calls import user
from tests.fakes.stub_server import (
    Behaviour,
    StubServer,
    after,
    answer,
    count_tokens,
    finish,
    first,
    half,
    once,
    refuse,
    reset,
    send,
)

WARM = Sampling(max_tokens=50)


@pytest.fixture(autouse=True)
def _haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits before retries are tested with the clock alone; here they only cost time."""
    monkeypatch.setattr(retry, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(window, "MAX_PAUSE_S", 0.01)
    monkeypatch.setattr(breaker, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(breaker, "MAX_WAIT_S", 0.05)


def run(test: Awaitable[None]) -> None:
    asyncio.run(asyncio.wait_for(test, 50))


def numbers(one: Service, n: int, round_: int = 1):
    return one.calls(Number(0, 100), [user(f"{i}?") for i in range(n)], sampling=WARM, round_=round_)


def finishes(results: list[Result]) -> Counter[Finish]:
    return Counter(result.finish for result in results)


@pytest.mark.parametrize(
    "fault",
    [
        refuse(429),
        refuse(429, **{"Retry-After": "0.02"}),
        refuse(503, "The engine is currently busy"),
        refuse(500, "EngineCore encountered an issue"),
        refuse(502),
        reset,
        half,
        finish("abort"),
        finish(None),
        send(b'{"error":{"message":"engine dead","code":500}}'),
        send(b"<html>502 Bad Gateway</html>"),
        send(b""),
    ],
    ids=[
        "429",
        "429+",
        "503",
        "500",
        "502",
        "reset",
        "half",
        "abort",
        "no reason",
        "200+error",
        "html",
        "empty",
    ],
)
def test_what_one_try_failed_at_another_mends(fault: Behaviour):
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:
            stub.behave = first(4, fault)
            n_before = len(stub.received)
            results = await one.ask(numbers(one, 30))
            assert finishes(results) == {Finish.STOP: 30}
            assert len(stub.received) - n_before == 34
            # a kept connection that is reset at once was idle too long: that is mended before it counts
            assert sum(result.resent for result in results) == (0 if fault is reset else 4)
            seeds = Counter(body["seed"] for body in stub.received[n_before:])
            assert len(seeds) == 30  # asked again as before, so that the reply is what it would have been

    run(test())


@pytest.mark.parametrize("fault", [refuse(500), reset, half, finish("abort")])
def test_a_request_that_always_fails_ends_as_an_error(fault: Behaviour):
    async def test() -> None:
        async def behave(stub, request, body):
            doomed = body["messages"][-1]["content"] == "3?"
            return await (fault if doomed else answer)(stub, request, body)

        async with StubServer() as stub, service(stub, retries=2) as one:
            stub.behave = behave
            results = await one.ask(numbers(one, 10))
            assert finishes(results) == {Finish.STOP: 9, Finish.ERROR: 1}
            assert "tried 3 times" in results[3].text
            assert stub.url in results[3].text

    run(test())


def test_a_request_that_is_refused_is_not_tried_again():
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:
            n_before = len(stub.received)
            stub.behave = refuse(400, "Grammar error: no\x1b[31m such thing")
            (result,) = await one.ask(numbers(one, 1))
            assert result.finish is Finish.ERROR
            assert "Grammar error: no [31m such thing" in result.text
            assert len(stub.received) - n_before == 1

    run(test())


def test_broken_text_is_shown_as_broken():
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:
            broken = b'{"model":"stub","choices":[{"message":{"content":"4\xff2"},"finish_reason":"stop"}]}'
            stub.behave = send(broken)
            (result,) = await one.ask(one.calls(Text(), [user("?")], sampling=WARM))
            assert (result.text, result.finish) == ("4\ufffd2", Finish.STOP)

    run(test())


def test_a_storm_of_refusals_is_sat_out():
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:
            stub.behave = first(150, refuse(429))
            assert finishes(await one.ask(numbers(one, 100))) == {Finish.STOP: 100}

    run(test())


def test_a_server_is_asked_for_no_more_than_it_takes():
    """One that turns away what it has no room for, as vLLM with --max-num-queued-reqs does."""

    async def test() -> None:
        async def behave(stub, request, body):
            return await (refuse(503) if stub.in_flight > 20 else after(0.002))(stub, request, body)

        async with StubServer() as stub, service(stub) as one:
            stub.behave = behave
            n_before = len(stub.received)
            assert finishes(await one.ask(numbers(one, 2000), 45)) == {Finish.STOP: 2000}
            assert len(stub.received) - n_before < 2400

    run(test())


def test_a_server_that_replies_as_another_model_is_left():
    async def test() -> None:
        async with StubServer() as bad, StubServer() as good, service(bad, good) as one:
            bad.behave = finish("stop", model="other", text="1")
            good.behave = finish("stop", text="2")
            left = one.backend.dispatcher.servers[0].breaker
            round_ = 1
            while "not what it was" not in left.reason:  # it has been examined, too
                results = await one.ask(numbers(one, 50, round_))
                assert {result.text for result in results} == {"2"}
                round_ += 1

    run(test())


def test_a_server_that_gives_only_errors_is_left_and_found_again():
    async def test() -> None:
        async with StubServer() as bad, StubServer() as good, service(bad, good) as one:
            bad.behave = refuse(500)
            assert finishes(await one.ask(numbers(one, 200))) == {Finish.STOP: 200}
            bad.behave = answer
            n_before, round_ = len(good.received), 2
            while one.backend.dispatcher.servers[0].breaker.state is not breaker.State.CLOSED:
                await one.ask(numbers(one, 20, round_))
                round_ += 1
            n_before = len(bad.received)
            await one.ask(numbers(one, 200, round_))
            assert len(bad.received) - n_before > 20

    run(test())


def test_health_alone_does_not_make_a_server_healthy():
    """vLLM's /health goes on with 200 after its engine has died."""

    async def test() -> None:
        async with StubServer() as stub, service(stub, retries=100, outage_s=1) as one:
            stub.behave = refuse(500, "cannot schedule new futures after shutdown")
            results = await one.ask(numbers(one, 30))
            assert finishes(results) == {Finish.ERROR: 30}
            assert stub.healthy
            assert "cannot schedule" in results[0].text

    run(test())


def test_without_any_server_requests_fail_after_the_time_that_the_preset_gives():
    async def test() -> None:
        async with StubServer() as stub, service(stub, outage_s=0.2) as one:
            await stub.stop()
            for round_ in (1, 2):  # the second time nothing is even tried
                results = await one.ask(numbers(one, 100, round_))
                assert finishes(results) == {Finish.ERROR: 100}
                assert "no server has replied" in results[0].text
                assert f"{stub.url} cannot be reached (connection refused)" in results[0].text
                one.backend.dispatcher.trouble_since = None
            await stub.start(int(stub.url.rsplit(":", 1)[1]))
            while finishes(await one.ask(numbers(one, 1, 3))) != {Finish.STOP: 1}:
                pass

    run(test())


def test_a_killed_servers_requests_move_to_another():
    async def test() -> None:
        dead, release = asyncio.Event(), asyncio.Event()
        async with StubServer() as dying, StubServer() as other, service(dying, other) as one:
            dying.behave = once(dead)
            other.behave = once(release)
            asking = asyncio.create_task(one.ask(numbers(one, 40)))
            while not (dying.in_flight and other.in_flight):
                await asyncio.sleep(0)
            await dying.stop()
            release.set()
            assert finishes(await asking) == {Finish.STOP: 40}
            await dying.start()

    run(test())


def test_a_server_that_hangs_and_takes_no_connections_is_not_waited_for():
    """What vLLM does on SIGTERM: its engine is gone, its open connections stay silent for ever."""

    async def test() -> None:
        never = asyncio.Event()
        async with StubServer() as hung, StubServer() as other, service(hung, other) as one:
            hung.behave = once(never)
            asking = asyncio.create_task(one.ask(numbers(one, 40)))
            while not hung.in_flight:
                await asyncio.sleep(0)
            await hung.stop_listening()
            assert finishes(await asking) == {Finish.STOP: 40}
            never.set()

    run(test())


def test_a_server_that_sends_nothing_is_not_waited_for_for_ever():
    async def test() -> None:
        never = asyncio.Event()
        async with StubServer() as silent, StubServer() as other, service(silent, other, idle_s=0.2) as one:
            silent.behave = once(never)
            assert finishes(await one.ask(numbers(one, 40))) == {Finish.STOP: 40}
            never.set()

    run(test())


def test_a_request_times_out_when_the_preset_says_so_and_is_taken_back():
    async def test() -> None:
        never = asyncio.Event()
        async with StubServer() as stub, service(stub, timeout_s=0.1) as one:
            stub.behave = once(never)
            results = await one.ask(numbers(one, 5))
            assert finishes(results) == {Finish.TIMEOUT: 5}
            assert all(result.busy_s >= 0.1 for result in results)
            assert one.backend.dispatcher.servers[0].in_flight == 0
            while stub.in_flight:  # the server sees that nobody waits
                await asyncio.sleep(0)

    run(test())


def test_a_late_reply_is_asked_for_elsewhere_if_the_preset_says_so():
    async def test() -> None:
        never = asyncio.Event()
        async with StubServer() as slow, StubServer() as fast, service(slow, fast, hedge_after_s=0.02) as one:
            slow.behave = once(never)
            assert finishes(await one.ask(numbers(one, 40))) == {Finish.STOP: 40}
            assert slow.most_in_flight > 0
            while slow.in_flight:
                await asyncio.sleep(0)
            assert one.backend.dispatcher.servers[0].breaker.state is breaker.State.CLOSED

    run(test())


def test_one_slow_and_one_dying_among_three():
    async def test() -> None:
        stubs = [await StubServer().start() for _ in range(3)]
        good, slow, dying = stubs
        async with service(*stubs) as one:
            good.behave = dying.behave = after(0.002)
            slow.behave = after(0.05)
            asking = asyncio.create_task(one.ask(numbers(one, 1500), 45))
            while len(dying.received) < 200:
                await asyncio.sleep(0)
            await dying.stop()
            results = await asking
            assert finishes(results) == {Finish.STOP: 1500}
            assert len({result.key for result in results}) == 1500
        await good.stop()
        await slow.stop()

    run(test())


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_every_request_is_answered_once(seed):
    faults = [refuse(429), refuse(503, **{"Retry-After": "0.01"}), refuse(500), refuse(404), reset, half]
    faults += [finish("abort"), finish("stop", model="other"), send(b"{"), send(b'{"error":{}}'), after(0.02)]
    rng = Random(seed)

    async def behave(stub, request, body):
        chosen = rng.choice(faults) if rng.random() < 0.3 else answer
        return await chosen(stub, request, body)

    async def test() -> None:
        stubs = [await StubServer().start() for _ in range(3)]
        async with service(*stubs, outage_s=2) as one:
            for stub in stubs:
                stub.behave = behave
            results = await one.ask(numbers(one, 400), 45)
            assert set(finishes(results)) <= {Finish.STOP, Finish.ERROR}
            assert finishes(results)[Finish.STOP] > 300
            servers = one.backend.dispatcher.servers
            assert [(server.in_flight, server.n_queued) for server in servers] == [(0, 0)] * 3
            assert one.backend.dispatcher.queues.n_open == 0
        for stub in stubs:
            await stub.stop()

    run(test())


def test_closing_gives_up_what_is_open():
    async def test() -> None:
        never = asyncio.Event()
        async with StubServer() as stub:
            async with service(stub) as one:
                stub.behave = once(never)
                one.backend.submit(numbers(one, 100), lambda results: None)
                while not stub.in_flight:
                    await asyncio.sleep(0)
            (late,) = await one.ask(numbers(one, 1))
            assert (late.finish, late.text) == (Finish.ERROR, "the backend is not open")

    run(test())


def past(n: int) -> tuple:
    roles = ("user", "assistant")
    turns = [user(f"turn {i} went on and on and on")[0] for i in range(n)]
    from engine.models.protocol import Message

    return tuple(Message(roles[i % 2], turn.content) for i, turn in enumerate(turns))


@pytest.mark.parametrize("kind", ["vllm", "openai"])
def test_a_long_past_is_cut_by_rule_and_counted(kind):
    async def test() -> None:
        async with StubServer(kind=kind, context=200) as stub, service(stub, max_tokens=50) as one:
            requests = one.calls(Text(), [past(61), past(5)], sampling=WARM)
            long, short = await one.ask(requests)
            assert finishes([long, short]) == {Finish.STOP: 2}
            assert (long.dropped > 30, short.dropped) == (True, 0)
            sent = [body for body in stub.received if body["messages"][-1]["content"].startswith("turn 60")][
                -1
            ]
            assert sent["messages"][0]["role"] == "user"
            assert count_tokens(sent) + (50 if kind == "vllm" else 0) <= 200
            if kind == "vllm":  # asked of the server, so no more than needed
                more = 2 * count_tokens({"messages": sent["messages"][:1]})
                assert count_tokens(sent) + more + 50 > 200

    run(test())


def test_a_prompt_that_cannot_be_cut_is_told():
    async def test() -> None:
        async with StubServer(context=100) as stub, service(stub, max_tokens=50) as one:
            (result,) = await one.ask(one.calls(Text(), [user("word " * 200)], sampling=WARM))
            assert result.finish is Finish.CONTEXT
            assert "does not fit into a context of 100 tokens" in result.text

    run(test())


def test_a_reply_that_was_cut_for_want_of_context_is_asked_for_with_a_shorter_past():
    """vLLM shortens the reply and says nothing, if the prompt leaves too little room."""

    async def test() -> None:
        async def behave(stub, request, body):
            full = count_tokens(body) + body["max_tokens"] > stub.context
            return await finish("length" if full else "stop")(stub, request, body)

        async with StubServer(context=200) as stub, service(stub, max_tokens=50) as one:
            stub.behave = behave
            (result,) = await one.ask(one.calls(Text(), [past(15)], sampling=WARM))
            assert result.finish is Finish.STOP
            assert result.dropped > 0

    run(test())

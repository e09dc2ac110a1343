"""What is sent where: seeds, samples, priorities, prefixes, parts of a reply, and how much at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable
from operator import attrgetter

import pytest
from aiohttp import web

from engine.models.answers import Choice, JsonSchema, Number, Text
from engine.models.protocol import Finish, Message, Result, Sampling
from tests.fakes.http_backend import Service, service
from tests.fakes.model_calls import GREEDY, user
from tests.fakes.stub_server import StubServer, after, finish

WARM = Sampling(max_tokens=50)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


def run(test: Awaitable[None]) -> None:
    asyncio.run(asyncio.wait_for(test, 50))


def asked(stub: StubServer) -> list[dict]:
    """What was asked of a server, without the questions about itself."""
    return [body for body in stub.received if body["messages"][0]["content"] != "Hello."]


def numbers(one: Service, n: int, **options):
    options = {"sampling": WARM, **options}
    return one.calls(Number(0, 100), [user(f"{i}?") for i in range(n)], **options)


def test_every_request_has_a_seed_of_its_own_that_depends_on_the_run_and_the_call_alone():
    async def seeds(n: int) -> dict[str, int]:
        async with StubServer() as stub, service(stub) as one:
            await one.ask(numbers(one, n))
            return {body["messages"][0]["content"]: body["seed"] for body in asked(stub)}

    async def test() -> None:
        few, many = await seeds(10), await seeds(100)
        assert few.items() <= many.items()
        assert len(set(many.values())) == 100
        assert all(0 <= seed < 2**31 for seed in many.values())

    run(test())


def test_earlier_rounds_come_first():
    async def test() -> None:
        async with StubServer() as stub, service(stub, max_in_flight=1) as one:
            rules = (Message("system", "The second round."),)
            both = numbers(one, 5, round_=2, prefix=rules) + numbers(one, 5, round_=1)
            await one.ask(both)
            assert [body["priority"] for body in asked(stub)] == [1] * 5 + [2] * 5

    run(test())


def same(one: Service, n: int, **options):
    options = {"sampling": WARM, **options}
    return one.calls(Number(0, 100), [user("?")] * n, **options)


def totals(results: list[Result]) -> tuple[int, int, int]:
    """Tokens read, of these cached, and written."""
    return tuple(sum(map(attrgetter(f"tokens_{name}"), results)) for name in ("in", "cached", "out"))  # type: ignore[return-value]


def test_equal_prompts_become_one_request_and_are_marked():
    async def test() -> None:
        async with StubServer() as stub, service(stub, samples_per_request=8) as one:
            results = await one.ask(same(one, 20) + numbers(one, 1, round_=2))
            assert sorted(body.get("n", 1) for body in asked(stub)) == [1, 4, 8, 8]
            assert [result.samples for result in results] == [8] * 16 + [4] * 4 + [1]
            assert {result.finish for result in results} == {Finish.STOP}
            assert totals(results[:8]) == (5, 2, 16)  # what the server has counted for the request
            assert totals(results[16:20]) == (5, 2, 8)

    run(test())


def test_greedy_replies_to_equal_prompts_are_equal_so_one_is_enough():
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:
            results = await one.ask(same(one, 20, sampling=GREEDY))
            assert len(asked(stub)) == 1
            assert "n" not in asked(stub)[0]
            assert len({result.text for result in results}) == 1
            assert totals(results) == (5, 2, 2)
            assert {result.samples for result in results} == {20}

    run(test())


@pytest.mark.parametrize(("kind", "settings"), [("plain", {}), ("vllm", {"samples_per_request": 1})])
def test_requests_stay_single_where_they_have_to(kind, settings):
    async def test() -> None:
        async with StubServer(kind=kind) as stub, service(stub, **settings) as one:
            results = await one.ask(same(one, 20))
            assert len(asked(stub)) == 20
            assert {result.samples for result in results} == {1}

    run(test())


def test_what_begins_alike_goes_to_the_same_server():
    async def test() -> None:
        async with StubServer() as a, StubServer() as b, StubServer() as c, service(a, b, c) as one:
            for round_ in range(1, 31):
                rules = (Message("system", f"rules {round_ % 3}"),)
                await one.ask(numbers(one, 4, prefix=rules, round_=round_))
            homes = Counter(
                (body["messages"][0]["content"], stub.url) for stub in (a, b, c) for body in asked(stub)
            )
            assert len(homes) == 3
            assert set(homes.values()) == {40}

    run(test())


def test_when_all_begin_alike_agents_keep_their_servers_and_loads_stay_even():
    async def test() -> None:
        async with StubServer() as a, StubServer() as b, service(a, b) as one:
            a.behave = b.behave = after(0.002)
            for round_ in (1, 2):
                await one.ask(numbers(one, 400, round_=round_))
            where = [{body["messages"][0]["content"] for body in asked(stub)} for stub in (a, b)]
            assert min(len(asked(a)), len(asked(b))) > 250
            assert len(where[0] & where[1]) < 200  # most were asked of one server in both rounds

    run(test())


def test_an_idle_server_helps_a_busy_one():
    async def test() -> None:
        async with StubServer() as a, StubServer() as b, service(a, b, max_in_flight=4) as one:
            a.behave = b.behave = after(0.005)
            await one.ask(numbers(one, 100))
            assert min(len(asked(a)), len(asked(b))) > 30
            assert max(a.most_in_flight, b.most_in_flight) <= 4

    run(test())


@pytest.mark.parametrize("answer", [Number(0, 100, reasoning=20), Choice(("yes", "no"), reasoning=20)])
def test_reasoning_that_comes_to_no_answer_is_gone_on_with(answer):
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:

            async def behave(stub, request, body):
                second = body["messages"][-1]["role"] == "assistant"
                changes = {} if second else {"text": "Let me see."}
                return await finish("stop" if second else "length", **changes)(stub, request, body)

            stub.behave = behave
            (result,) = await one.ask(one.calls(answer, [user("?")], sampling=WARM))
            answer.parse(result.text)
            assert result.text.startswith("Let me see.\nANSWER:")
            assert asked(stub)[1]["messages"][-1]["content"] == "Let me see.\nANSWER:"
            assert result.tokens_out == 4
            assert asked(stub)[0]["seed"] == asked(stub)[1]["seed"]

    run(test())


def test_how_likely_a_reply_was_counts_both_of_its_parts():
    async def test() -> None:
        async with StubServer() as stub, service(stub, logprobs=True) as one:

            async def behave(stub, request, body):
                second = body["messages"][-1]["role"] == "assistant"
                return await finish("stop", **({} if second else {"text": "Let me see."}))(
                    stub, request, body
                )

            stub.behave = behave
            sampling = Sampling(max_tokens=50, logprobs=True)
            asked = one.calls(Number(0, 100, reasoning=20), [user("?")], sampling=sampling)
            assert [result.logprob for result in await one.ask(asked)] == [-1.0]
            assert [result.logprob for result in await one.ask(numbers(one, 1))] == [None]

    run(test())


def test_only_those_of_several_replies_are_gone_on_with_that_need_it():
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:

            async def behave(stub, request, body):
                reply = stub.reply(body, text=" 7" if body["messages"][-1]["role"] == "assistant" else "Hm.")
                if len(reply["choices"]) > 1:
                    reply["choices"][1]["message"]["content"] = "Well.\nANSWER: 42"
                return web.json_response(reply)

            stub.behave = behave
            answer = Number(0, 100, reasoning=20)
            results = await one.ask(one.calls(answer, [user("?")] * 3, sampling=WARM))
            assert [answer.parse(result.text) for result in results] == [7, 42, 7]
            assert len(asked(stub)) == 3
            assert {result.samples for result in results} == {3}
            assert totals(results)[2] == 6 + 2 * 2

    run(test())


def test_json_after_reasoning():
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:
            answer = JsonSchema(SCHEMA, reasoning=20)
            (result,) = await one.ask(one.calls(answer, [user("?")], sampling=Sampling(max_tokens=400)))
            assert answer.parse(result.text) == {}
            assert asked(stub)[0]["stop"] == ["ANSWER:"]
            assert asked(stub)[1]["structured_outputs"]["json"] == SCHEMA

    run(test())


def test_free_text_that_was_cut_says_so():
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:
            stub.behave = finish("length", text="On and on")
            (result,) = await one.ask(one.calls(Text(), [user("?")], sampling=WARM))
            assert (result.text, result.finish) == ("On and on", Finish.LENGTH)

    run(test())


def test_what_was_never_sent_is_an_error_of_that_request_alone():
    async def test() -> None:
        async with StubServer() as stub, service(stub) as one:
            good, bad, worse = numbers(one, 3)
            bad.prefix, worse.form = 5, 5
            results = await one.ask([good, bad, worse])
            assert [result.finish for result in results] == [Finish.STOP, Finish.ERROR, Finish.ERROR]
            impossible = one.calls(Number(5, 3), [user("?")], sampling=WARM, round_=2)
            (result,) = await one.ask(impossible)
            assert result.finish is Finish.ERROR
            assert "no number" in result.text

    run(test())


def test_times_are_those_of_waiting_and_of_work():
    async def test() -> None:
        async with StubServer() as stub, service(stub, max_in_flight=1) as one:
            stub.behave = after(0.03)
            first, second = await one.ask(numbers(one, 2))
            assert first.queued_s < 0.03 <= first.busy_s
            assert second.queued_s >= 0.03 <= second.busy_s

    run(test())

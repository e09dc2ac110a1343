"""What is found out about servers of different kinds, and what is said when one is of no use."""

from __future__ import annotations

import asyncio
import logging

import pytest

from engine.errors import ModelError
from engine.models.answers import Choice, Number
from engine.models.protocol import Finish, Sampling
from tests.fakes.http_backend import service
from tests.fakes.model_calls import user
from tests.fakes.stub_server import StubServer, answer, error, first, refuse, send

WARM = Sampling(max_tokens=50)


def features(*, kind: str = "vllm", **settings) -> dict:
    async def find() -> dict:
        async with StubServer(kind=kind) as stub, service(stub, **settings) as one:
            (found,) = one.facts["servers"].values()
            return found

    return asyncio.run(find())


def test_vllm():
    found = features()
    assert found["software"] == "vllm 0.0.0-stub"
    assert found["structure"] == "structured_outputs"
    assert (found["model"], found["context"]) == ("stub", 4096)
    able = ("samples", "seed", "extended", "priority", "resumes", "counts", "metrics")
    assert all(found[name] for name in able)


def test_a_vllm_that_takes_the_new_names_without_doing_anything_is_seen_through():
    assert features(kind="old vllm")["structure"] == "guided"


def test_a_server_like_openais():
    found = features(kind="openai")
    assert (found["structure"], found["samples"], found["seed"]) == ("response_format", True, True)
    assert not any(found[name] for name in ("extended", "priority", "resumes", "counts", "metrics"))
    assert found["context"] is None
    assert features(kind="new openai")["limit_field"] == "max_completion_tokens"


def test_a_server_that_knows_nothing_but_the_basics():
    found = features(kind="plain")
    assert found["structure"] == "none"
    assert not any(found[name] for name in ("samples", "seed", "extended", "priority"))


@pytest.mark.parametrize("kind", ["vllm", "old vllm", "openai", "new openai"])
@pytest.mark.parametrize(
    "answer", [Number(3, 100), Choice(("yes", "no")), Number(0, 100, reasoning=20), Number(0, 1, 1)]
)
def test_answers_parse_with_every_kind_of_server(kind, answer):
    async def ask() -> None:
        async with StubServer(kind=kind) as stub, service(stub) as one:
            for result in await one.ask(one.calls(answer, [user("A?"), user("B?")], sampling=WARM)):
                assert result.finish is Finish.STOP
                answer.parse(result.text)

    asyncio.run(ask())


def refusal(*stubs: StubServer, **settings) -> str:
    """Return the error that opening ends with."""

    async def open_() -> str:
        for stub in stubs:
            await stub.start()
        try:
            async with service(*stubs, **settings):
                raise AssertionError("opened")
        except ModelError as failed:
            return str(failed)
        finally:
            for stub in stubs:
                await stub.stop()

    return asyncio.run(open_())


def test_no_server_at_all():
    assert "model.servers" in refusal()


def test_nobody_answers():
    text = refusal(servers=("http://127.0.0.1:1", "http://localhost:1"))
    assert "http://127.0.0.1:1 cannot be reached (connection refused)" in text
    assert "http://localhost:1" in text


def test_a_model_that_is_not_served():
    text = refusal(StubServer(model="llama"), model="lama")
    assert "no model 'lama'" in text
    assert "'llama'" in text


def test_servers_of_different_models():
    text = refusal(StubServer(model="small"), StubServer(model="large"))
    assert "differs from" in text
    assert "model 'small'" in text
    assert "model 'large'" in text


def test_servers_that_cannot_go_on_with_each_others_replies():
    assert "forms by guided" in refusal(StubServer(kind="vllm"), StubServer(kind="old vllm"))


def test_a_model_without_a_chat_template():
    stub = StubServer()
    stub.behave = refuse(400, "default chat template is no longer allowed, you must provide a chat template")
    assert "chat template" in refusal(stub)


def test_something_else_that_speaks_http():
    stub = StubServer()
    stub.behave = send(b"<html>Welcome to nginx!</html>")
    assert "cannot be read" in refusal(stub)


def test_a_base_url_that_leads_elsewhere():
    async def open_() -> None:
        async with StubServer() as stub:
            with pytest.raises(ModelError, match="HTTP 404") as caught:
                async with service(servers=(f"{stub.url}/elsewhere",)):
                    pass
            assert "base URL" in str(caught.value)

    asyncio.run(open_())


def test_sampling_that_the_server_does_not_take():
    assert "top_k" in refusal(StubServer(kind="openai"), top_k=5)


def test_probabilities_where_the_server_tells_them():
    told = features(logprobs=True)["logprobs"], features(kind="openai", logprobs=True)["logprobs"]
    assert told == (True, True)
    assert not features()["logprobs"]  # nobody asked
    assert "does not tell how likely" in refusal(StubServer(kind="plain"), logprobs=True)


def test_a_reply_as_long_as_the_context():
    text = refusal(StubServer(context=100), max_tokens=100)
    assert "no room" in text
    assert "max_tokens" in text


def test_a_server_that_is_listed_twice():
    assert "twice" in refusal(servers=("http://gpu1:8000", "http://gpu1:8000/v1"))


def test_a_server_that_is_busy_while_it_is_asked_does_not_seem_to_take_nothing():
    async def ask() -> None:
        async with StubServer() as stub:
            stub.behave = first(1, answer, first(7, refuse(429)))
            async with service(stub, patience_s=20) as one:
                (found,) = one.facts["servers"].values()
                assert found["structure"] == "structured_outputs"
                assert found["seed"]

    asyncio.run(ask())


def test_the_presets_own_fields_go_along_with_the_questions():
    """A model that would think for long otherwise seems not to obey."""

    async def ask() -> None:
        async with StubServer(kind="old vllm") as stub, service(stub, extra={"think": False}):
            assert all(body["think"] is False for body in stub.received)

    asyncio.run(ask())


def test_replies_that_cannot_be_held_to_a_form_are_told(caplog):
    features(kind="plain")
    assert "only checked" in caplog.text


def test_fields_that_are_not_the_presets_to_set():
    assert "stream" in refusal(StubServer(), extra={"stream": True})


def test_a_server_that_comes_later_is_waited_for():
    async def ask() -> None:
        stub = await StubServer().start()
        url = stub.url
        await stub.stop()

        async def come() -> None:
            await asyncio.sleep(0)
            await stub.start(int(url.rsplit(":", 1)[1]))

        coming = asyncio.create_task(come())
        async with service(servers=(url,), patience_s=20) as one:
            await coming
            assert one.facts["unreachable"] == []
        await stub.stop()

    asyncio.run(ask())


def test_one_that_answers_is_enough_and_the_other_joins_when_it_does():
    async def ask() -> None:
        late = await StubServer().start()
        port = int(late.url.rsplit(":", 1)[1])
        await late.stop()
        async with StubServer() as stub, service(stub, late) as one:
            assert one.facts["unreachable"] == [late.url]
            await late.start(port)
            n = 0
            while not late.received[-1:] or "Hello." in str(late.received[-1]):
                n += 1
                await one.ask(one.calls(Number(0, 9), [user(f"{i}") for i in range(50)], round_=n))
        await late.stop()

    asyncio.run(ask())


def test_the_key_is_sent_and_never_told(caplog):
    caplog.set_level(logging.DEBUG)

    async def ask() -> None:
        async with StubServer(key="sk-right") as stub:
            environment = {"GOOD": "sk-right", "BAD": "sk-wrong-1234"}
            async with service(stub, api_key_variable="GOOD", environment=environment) as one:
                (result,) = await one.ask(one.calls(Number(0, 9), [user("?")]))
                assert result.finish is Finish.STOP
                stub.behave = refuse(400, "you are sk-right")
                (result,) = await one.ask(one.calls(Number(0, 9), [user("?")], round_=2))
                assert "you are (secret)" in result.text
                assert "sk-right" not in str(one.facts)
            with pytest.raises(ModelError) as caught:
                async with service(stub, api_key_variable="BAD", environment=environment):
                    pass
            assert "HTTP 401" in str(caught.value)
            assert "sk-wrong-1234" not in str(caught.value)

    asyncio.run(ask())
    assert "sk-" not in caplog.text


def test_a_redirect_is_not_followed_with_the_key():
    stub = StubServer()

    async def elsewhere(*_):
        return error(302, "over there", Location="http://127.0.0.1:9/")

    stub.behave = elsewhere
    assert "HTTP 302" in refusal(stub)

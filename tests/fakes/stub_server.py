"""A server of chat completions that does as it is told: quickly, slowly, wrongly, or not at all.

`python -m tests.fakes.stub_server [SLOTS SECONDS]` is such a server as a process of its own. It prints its
URL, answers at once or, with so many slots, each request after so long, and ends when its input does.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

_BASIC = {"model", "messages", "max_tokens", "temperature", "top_p", "stop"}
_COMMON = {"n", "seed", "logprobs"}
_OPENAI = {*_COMMON, "response_format", "max_completion_tokens"}
_VLLM = {*_COMMON, "top_k", "min_p", "priority", "add_generation_prompt", "continue_final_message"}
_TAKES = {
    "vllm": {*_VLLM, "structured_outputs", "response_format"},
    "old vllm": {*_VLLM, "guided_regex", "guided_choice", "guided_json"},
    "openai": _OPENAI,
    "new openai": _OPENAI,
    "plain": set(),
}
"""Fields beyond the basic ones. Like the real one, an old vLLM ignores what it does not know."""

Body = dict[str, Any]
Behaviour = Callable[["StubServer", web.Request, Body], Awaitable[web.StreamResponse]]


class StubServer:
    """Speaks as vLLM does, or as another `kind` of server: see _TAKES."""

    def __init__(
        self, *, kind: str = "vllm", model: str = "stub", context: int | None = 4096, key: str = ""
    ) -> None:
        self.kind = kind
        self.model = model
        self.context = context
        self.key = key
        self.behave: Behaviour = answer
        """What is done about a request for a reply."""
        self.healthy = True
        self.received: list[Body] = []
        """Requests for replies, in order of arrival."""
        self.slots = 1 << 30
        """How many requests it says it works on at a time."""
        self.in_flight = 0
        self.most_in_flight = 0
        self.url = ""
        self._runner: web.AppRunner | None = None

    @property
    def is_vllm(self) -> bool:
        return self.kind.endswith("vllm")

    async def start(self, port: int = 0) -> StubServer:
        """Listen on loopback."""
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/health", self._health)
        if self.is_vllm:
            app.router.add_get("/version", self._version)
            app.router.add_get("/metrics", self._metrics)
            app.router.add_post("/tokenize", self._tokenize)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.0, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, backlog=4096, reuse_address=True)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def stop_listening(self) -> None:
        """Take no new connections; those that there are hang, as when vLLM is told to end."""
        assert self._runner is not None
        for site in list(self._runner.sites):
            await site.stop()

    async def stop(self) -> None:
        """Close the port and all connections, as if killed."""
        assert self._runner is not None
        for connection in self._runner.server.connections if self._runner.server else ():
            if connection.transport is not None:
                connection.transport.abort()
        await self._runner.cleanup()

    async def __aenter__(self) -> StubServer:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            given = request.headers.get("Authorization", "").removeprefix("Bearer ")
            return error(401, f"Incorrect API key provided: {given}")
        body = json.loads(await request.read())
        unknown = set(body) - _BASIC - _TAKES[self.kind]
        if unknown and self.kind != "old vllm":
            return error(400, f"Unrecognized request argument supplied: {sorted(unknown)[0]}")
        if self.kind == "new openai" and "max_tokens" in body:
            return error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        self.received.append(body)
        self.in_flight += body.get("n", 1)
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self.behave(self, request, body)
        finally:
            self.in_flight -= body.get("n", 1)

    async def _models(self, _: web.Request) -> web.Response:
        owner = "vllm" if self.is_vllm else "someone"
        found: Body = {"id": self.model, "object": "model", "owned_by": owner}
        if self.is_vllm:
            found["max_model_len"] = self.context
        return web.json_response({"object": "list", "data": [found]})

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(status=200 if self.healthy else 503)

    async def _version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": "0.0.0-stub"})

    async def _metrics(self, _: web.Request) -> web.Response:
        labels = '{engine="0",model_name="stub"}'
        running = min(self.slots, self.in_flight)
        gauges = {"running": running, "waiting": self.in_flight - running}
        lines = [f"vllm:num_requests_{name}{labels} {value}.0\n" for name, value in gauges.items()]
        return web.Response(text="".join(lines))

    async def _tokenize(self, request: web.Request) -> web.Response:
        return web.json_response({"count": count_tokens(json.loads(await request.read()))})

    def reply(
        self, body: Body, *, model: str | None = None, finish: str = "stop", text: str | None = None
    ) -> Body:
        """Return a completion such as vLLM sends."""
        told = {"content": 2 * [{"token": "4", "logprob": -0.25}]} if "logprobs" in body else None
        choices = [
            {
                "index": i,
                "message": {"role": "assistant", "content": self.text(body) if text is None else text},
                "finish_reason": finish,
                "logprobs": told,
            }
            for i in range(body.get("n", 1))
        ]
        n_in, n_out = count_tokens(body), 2 * len(choices)
        usage = {
            "prompt_tokens": n_in,
            "completion_tokens": n_out,
            "total_tokens": n_in + n_out,
            "prompt_tokens_details": {"cached_tokens": n_in // 2},
        }
        return {"id": "x", "model": model or self.model, "choices": choices, "usage": usage}

    def text(self, body: Body) -> str:
        """Return a text that obeys the constraint, which a plain server does not know."""
        wanted = body.get("structured_outputs", {}) if self.kind == "vllm" else {}
        if self.kind == "old vllm":
            wanted = {name[7:]: value for name, value in body.items() if name.startswith("guided_")}
        if "response_format" in body:
            return _fill(body["response_format"]["json_schema"]["schema"])
        if not wanted:
            return "42"
        if "choice" in wanted:
            return str(wanted["choice"][0])
        if "json" in wanted:
            return "{}"
        return _shortest(wanted["regex"])


def _fill(schema: Body) -> str:
    """Return the JSON of some object after a flat schema."""
    values = {"string": "Hm.", "integer": 42, "number": 0.5}
    properties = schema["properties"].items()
    return json.dumps({name: part.get("enum", [values.get(part["type"])])[0] for name, part in properties})


def _shortest(pattern: str) -> str:
    """Return some text that a pattern matches, of those that tests need."""
    for text in (*map(str, range(101)), "Let me see. ANSWER: 42", " 42", "yes", " yes", "0.5"):
        if re.fullmatch(pattern, text):
            return text
    raise AssertionError(pattern)


def count_tokens(body: Body) -> int:
    """One token a word, and four a message."""
    return sum(4 + len(message["content"].split()) for message in body["messages"])


def error(status: int, message: str, **headers: str) -> web.Response:
    """An error as vLLM words it."""
    body = {"error": {"message": message, "type": "Error", "param": None, "code": status}}
    return web.json_response(body, status=status, headers=headers)


async def answer(stub: StubServer, _: web.Request, body: Body) -> web.StreamResponse:
    """Answer at once; a prompt that is too long is refused."""
    if stub.context is not None and count_tokens(body) > stub.context:
        return error(400, f"This model's maximum context length is {stub.context} tokens.")
    return web.json_response(stub.reply(body))


def after(seconds: float) -> Behaviour:
    """Answer after so many seconds."""

    async def behave(stub: StubServer, request: web.Request, body: Body) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await answer(stub, request, body)

    return behave


def once(event: asyncio.Event) -> Behaviour:
    """Send not a byte until the event is set."""

    async def behave(stub: StubServer, request: web.Request, body: Body) -> web.StreamResponse:
        await event.wait()
        return await answer(stub, request, body)

    return behave


def refuse(status: int, message: str = "not now", **headers: str) -> Behaviour:
    """Answer with an error."""

    async def behave(_: StubServer, __: web.Request, ___: Body) -> web.StreamResponse:
        return error(status, message, **headers)

    return behave


def send(raw: bytes, status: int = 200) -> Behaviour:
    """Send these bytes as a whole response."""

    async def behave(_: StubServer, __: web.Request, ___: Body) -> web.StreamResponse:
        return web.Response(body=raw, status=status, content_type="application/json")

    return behave


def finish(reason: str | None, **changes: Any) -> Behaviour:
    """Answer with this finish reason, or with another text or model."""

    async def behave(stub: StubServer, _: web.Request, body: Body) -> web.StreamResponse:
        return web.json_response(stub.reply(body, finish=reason, **changes))  # type: ignore[arg-type]

    return behave


async def reset(_: StubServer, request: web.Request, __: Body) -> web.StreamResponse:
    """Cut the connection without a byte."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def half(stub: StubServer, request: web.Request, body: Body) -> web.StreamResponse:
    """Send half a reply, then cut the connection."""
    text = json.dumps(stub.reply(body)).encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(text))})
    await response.prepare(request)
    await response.write(text[: len(text) // 2])
    assert request.transport is not None
    request.transport.close()
    return response


def first(n: int, behaviour: Behaviour, then: Behaviour = answer) -> Behaviour:
    """Do one thing for the first `n` requests, and another from then on."""
    left = n

    async def behave(stub: StubServer, request: web.Request, body: Body) -> web.StreamResponse:
        nonlocal left
        left -= 1
        return await (behaviour if left >= 0 else then)(stub, request, body)

    return behave


def slots(n: int, seconds: float) -> Behaviour:
    """Answer after so many seconds, `n` requests at a time, the others in the order in which they came."""
    free = asyncio.Semaphore(n)

    async def behave(stub: StubServer, request: web.Request, body: Body) -> web.StreamResponse:
        async with free:
            await asyncio.sleep(seconds)
        return await answer(stub, request, body)

    return behave


async def _serve(arguments: list[str]) -> None:
    async with StubServer() as stub:
        if arguments:
            stub.slots = int(arguments[0])
            stub.behave = slots(stub.slots, float(arguments[1]))
        sys.stdout.write(f"{stub.url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1:]))

"""The HTTP client against a server that sends what bytes it likes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from engine.models.vllm import exchanges
from engine.models.vllm.exchanges import Broken
from engine.models.vllm.http1 import Client, NotConnected

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Raw:
    """What happened at the server."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.n_connections = 0

    async def request(self, reader: asyncio.StreamReader) -> bytes:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((int(x[15:]) for x in head.split(b"\r\n") if x.startswith(b"Content-Length:")), 0)
        self.requests.append(head + await reader.readexactly(length))
        return self.requests[-1]


@asynccontextmanager
async def serving(talk: Callable[[Raw], Talk], idle_s: float = 60.0) -> AsyncIterator[tuple[Client, Raw]]:
    raw = Raw()
    script = talk(raw)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raw.n_connections += 1
        try:
            await script(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    client = Client("127.0.0.1", server.sockets[0].getsockname()[1], False, {"X-Key": "k"}, idle_s)
    try:
        yield client, raw
    finally:
        client.close()
        server.close()


def sends(*pieces: bytes, keep: bool = True) -> Callable[[Raw], Talk]:
    """Answer each request with these pieces; close after the first unless told to keep."""

    def script(raw: Raw) -> Talk:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while True:
                await raw.request(reader)
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                if not keep:
                    return

        return talk

    return script


def run(test: Awaitable[None]) -> None:
    asyncio.run(asyncio.wait_for(test, 20))


def test_requests_share_a_connection_and_go_out_whole():
    async def test() -> None:
        async with serving(sends(OK)) as (client, raw):
            for _ in range(3):
                assert (await client.request("POST", "/v1/x", b"{}"))[::2] == (200, b"hi")
            await client.request("GET", "/health")
            assert raw.n_connections == 1
            assert raw.requests[0].startswith(b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1:")
            assert b"X-Key: k\r\n" in raw.requests[0]
            assert raw.requests[0].endswith(b"Content-Length: 2\r\n\r\n{}")
            assert raw.requests[3].startswith(b"GET /health HTTP/1.1\r\n")

    run(test())


def test_requests_at_the_same_time_have_connections_of_their_own():
    async def test() -> None:
        async with serving(sends(OK)) as (client, raw):
            await asyncio.gather(*(client.request("GET", "/") for _ in range(50)))
            assert raw.n_connections == 50
            await asyncio.gather(*(client.request("GET", "/") for _ in range(50)))
            assert raw.n_connections == 50

    run(test())


@pytest.mark.parametrize(
    ("pieces", "keep", "expected"),
    [
        ([OK[:20], OK[20:]], True, (200, b"hi")),
        (
            [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", b"0\r\n\r\n"],
            True,
            (200, b"hi"),
        ),
        ([b"HTTP/1.1 200 OK\r\n\r\n", b"hi"], False, (200, b"hi")),
        ([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", OK], True, (200, b"hi")),
        ([b"HTTP/1.1 429 Slow down\r\nContent-Length: 0\r\n\r\n"], True, (429, b"")),
    ],
    ids=["pieces", "chunked", "until the end", "hints first", "no body"],
)
def test_ways_to_send_a_response(pieces, keep, expected):
    async def test() -> None:
        async with serving(sends(*pieces, keep=keep)) as (client, _):
            for _ in range(2):
                assert (await client.request("POST", "/", b"x"))[::2] == expected

    run(test())


def test_headers_are_found_by_their_names_in_lower_case():
    async def test() -> None:
        answer = b"HTTP/1.1 429 X\r\nRETRY-After: 3\r\nContent-Length: 0\r\n\r\n"
        async with serving(sends(answer)) as (client, _):
            assert (await client.request("GET", "/")).headers["retry-after"] == "3"

    run(test())


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([b""], "closed the connection"),
        ([OK[:-1]], "closed the connection"),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nh"], "closed the connection"),
        ([b"SSH-2.0-OpenSSH_9.6\r\n"], "not HTTP"),
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nhi"], "not HTTP"),
        ([b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 70_000 + b"\r\n\r\n"], "headers without end"),
        ([b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"], "not HTTP|closed"),
    ],
    ids=[
        "nothing",
        "half a body",
        "half a chunk",
        "another protocol",
        "two lengths",
        "endless head",
        "upgrade",
    ],
)
def test_what_is_no_response_is_an_error(pieces, message):
    async def test() -> None:
        async with serving(sends(*pieces, keep=False)) as (client, _):
            with pytest.raises(Broken, match=message):
                await client.request("POST", "/", b"x")

    run(test())


def test_a_body_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(exchanges, "MAX_BODY", 1000)

    async def test() -> None:
        endless = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000
        async with serving(sends(endless)) as (client, _):
            with pytest.raises(Broken, match="more than"):
                await client.request("POST", "/", b"x")

    run(test())


def test_what_nobody_asked_for_is_never_taken_for_an_answer():
    """A server that sends two responses to one request would be one ahead from then on."""

    async def test() -> None:
        async with serving(sends(OK + OK.replace(b"hi", b"no"))) as (client, raw):
            for _ in range(3):
                assert (await client.request("GET", "/")).body == b"hi"
            assert raw.n_connections == 3

    run(test())


def test_a_connection_that_the_server_closed_while_idle_is_replaced_unnoticed():
    async def test() -> None:
        def script(raw: Raw) -> Talk:
            async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await raw.request(reader)
                writer.write(OK)
                await reader.read(1)  # closes as soon as the next request arrives, without an answer

            return talk

        async with serving(script) as (client, raw):
            for _ in range(3):
                assert (await client.request("POST", "/", b"x")).body == b"hi"
            assert raw.n_connections == 3

    run(test())


def test_a_server_that_is_gone_with_the_request_was_no_idle_connection():
    async def test() -> None:
        def script(raw: Raw) -> Talk:
            async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await raw.request(reader)
                writer.write(OK)
                await reader.read(1)
                client._port = 1  # where nobody listens

            return talk

        async with serving(script) as (client, _):
            await client.request("POST", "/", b"x")
            client._addresses = (float("-inf"), [])
            with pytest.raises(Broken, match=r"closed the connection; connection refused"):
                await client.request("POST", "/", b"x")

    run(test())


def test_nobody_listening_is_told_apart():
    async def test() -> None:
        async with serving(sends(OK)) as (client, _):
            port = client._port
        with pytest.raises(NotConnected, match="refused"):
            await Client("127.0.0.1", port, False, {}, 60).request("GET", "/")
        with pytest.raises(NotConnected):
            await Client("no-such-host.invalid", 1, False, {}, 60).request("GET", "/")

    run(test())


def test_a_certificate_is_asked_for():
    async def test() -> None:
        def plain_text(_: Raw) -> Talk:
            async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(OK)
                await writer.drain()

            return talk

        async with serving(plain_text) as (plain, _):
            with pytest.raises(NotConnected):
                await Client("127.0.0.1", plain._port, True, {}, 60).request("GET", "/")

    run(test())


def test_silence_is_bounded_before_a_response_and_within_it():
    async def test() -> None:
        loop = asyncio.get_running_loop()
        for begun in (False, True):
            heard = asyncio.Event()

            def script(raw: Raw, begun: bool = begun, heard: asyncio.Event = heard) -> Talk:
                async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                    await raw.request(reader)
                    writer.write(OK[:-1] if begun else b"")
                    heard.set()
                    await reader.read(1)

                return talk

            async with serving(script, idle_s=100.0) as (client, _):
                waiting = asyncio.create_task(client.request("POST", "/", b"x"))
                await heard.wait()
                (connection,) = client._all
                while connection._begun is not begun:
                    await asyncio.sleep(0)
                limit = exchanges.REST_S if begun else 100.0
                client.sweep(loop.time() + limit - 5)
                assert not waiting.done()
                client.sweep(loop.time() + limit + 5)
                with pytest.raises(Broken, match="stopped sending"):
                    await waiting

    run(test())


def test_idle_connections_are_closed_before_the_server_would():
    async def test() -> None:
        async with serving(sends(OK)) as (client, raw):
            await client.request("GET", "/")
            client.sweep(asyncio.get_running_loop().time() + exchanges.KEEPALIVE_S + 1)
            await client.request("GET", "/")
            assert raw.n_connections == 2

    run(test())


def test_a_cancelled_request_closes_its_connection():
    async def test() -> None:
        gone = asyncio.Event()

        def script(raw: Raw) -> Talk:
            async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await raw.request(reader)
                heard.set()
                try:
                    await reader.read(1)
                finally:
                    gone.set()

            return talk

        heard = asyncio.Event()
        async with serving(script) as (client, _):
            waiting = asyncio.create_task(client.request("POST", "/", b"x"))
            await heard.wait()
            waiting.cancel()
            await gone.wait()
            assert not client._all

    run(test())

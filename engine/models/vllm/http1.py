"""HTTP/1.1 for very many small requests to one server: connections in a pool, one request at a time on each.

One process sends the requests of a whole run. With 2,000 in flight, aiohttp 3.14 alone takes 0.26-0.37 ms of
CPU a request where the whole backend over this takes 0.19. llhttp (through httptools) does the parsing.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import httptools

CONNECT_S = 10.0
KEEPALIVE_S = 3.0
"""vLLM closes a connection that was idle for 5 s; one that is used at that very moment is lost."""
STALE_S = 1.0
"""A connection lost later than this after a request was sent was not idle for the server."""
REST_S = 30.0
"""Replies are sent in one go: once one has begun, the time without a byte may be so long."""
ADDRESSES_S = 60.0
MAX_BODY = 16 << 20
MAX_HEAD = 1 << 16


class Response(NamedTuple):
    """A whole response."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


class NotConnected(Exception):
    """No connection could be made, so nothing was sent."""


class Broken(Exception):
    """The request was sent, and there will be no response."""

    def __init__(self, what: str, *, stale: bool = False) -> None:
        super().__init__(what)
        self.stale = stale
        """The server closed an idle connection just as it was used; it has not seen the request."""


class Client:
    """One server. Times are those of the event loop."""

    def __init__(self, host: str, port: int, tls: bool, headers: Mapping[str, str], idle_s: float) -> None:
        """`headers` go with every request; `idle_s` bounds the wait for the first byte of a response."""
        self._host, self._port = host, port
        self._tls = ssl.create_default_context() if tls else None
        shown_host = f"[{host}]" if ":" in host else host
        fields = {"Host": f"{shown_host}:{port}", "Accept": "application/json", **headers}
        self._head = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode("ascii")
        self._idle_s = idle_s
        self._free: deque[_Connection] = deque()
        self._all: set[_Connection] = set()
        self._addresses: tuple[float, list[Any]] = (float("-inf"), [])
        self._looking_up = asyncio.Lock()

    async def request(self, method: str, target: str, body: bytes | None = None) -> Response:
        """Send a request and return the response. Raises NotConnected, Broken."""
        message = self._message(method, target, body)
        connection = self._reusable()
        if connection is not None:
            try:
                return await connection.exchange(message, method)
            except Broken as broken:
                if not broken.stale:
                    raise
                return await self._once_more(message, method)
        return await (await self._connect()).exchange(message, method)

    async def _once_more(self, message: bytes, method: str) -> Response:
        try:
            return await (await self._connect()).exchange(message, method)
        except NotConnected as error:  # then it was no idle connection's end, but the server's
            raise Broken(f"closed the connection; {error}") from None

    def sweep(self, now: float) -> None:
        """Break off what has been silent for too long, and close what has been idle for long."""
        for connection in list(self._all):
            connection.check(now, self._idle_s)

    def close(self) -> None:
        """Close all connections."""
        for connection in list(self._all):
            connection.abort("the client was closed")

    def _message(self, method: str, target: str, body: bytes | None) -> bytes:
        start = f"{method} {target} HTTP/1.1\r\n".encode("ascii")
        if body is None:
            return b"%b%b\r\n" % (start, self._head)
        return b"%b%bContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
            start,
            self._head,
            len(body),
            body,
        )

    def _reusable(self) -> _Connection | None:
        """Return the connection that was used last, if it is fresh."""
        while self._free:
            connection = self._free.pop()
            if connection.is_fresh(asyncio.get_running_loop().time()):
                return connection
            connection.abort("idle for long")
        return None

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        problem = "no address"
        for family, address in await self._look_up():
            try:
                async with asyncio.timeout(CONNECT_S):
                    _, made = await loop.create_connection(
                        lambda: _Connection(self._free, self._all),
                        address[0],
                        address[1],
                        family=family,
                        ssl=self._tls,
                        server_hostname=self._host if self._tls else None,
                    )
            except TimeoutError:
                problem = f"no connection within {CONNECT_S:g} s"
            except (OSError, ssl.SSLError) as error:
                problem = _words(error)
            else:
                return made
        raise NotConnected(problem)

    async def _look_up(self) -> list[tuple[socket.AddressFamily, Any]]:
        """Return the server's addresses, looked up once a minute and not once a connection."""
        loop = asyncio.get_running_loop()
        async with self._looking_up:
            since, known = self._addresses
            if loop.time() - since > ADDRESSES_S:
                try:
                    found = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
                except OSError as error:
                    raise NotConnected(_words(error)) from None
                known = [(family, address) for family, _, _, _, address in found]
                self._addresses = (loop.time(), known)
        return known


class _Connection(asyncio.Protocol):
    """One connection, free or with one request."""

    def __init__(self, free: deque[_Connection], all_: set[_Connection]) -> None:
        self._free, self._all = free, all_
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._waiting: asyncio.Future[Response] | None = None
        self._used = False
        self._active_at = self._loop.time()
        self._begin()

    def _begin(self) -> None:
        self._headers: dict[str, str] = {}
        self._head_size = 0
        self._parts: list[bytes] = []
        self._size = 0
        self._begun = self._has_head = False

    async def exchange(self, message: bytes, method: str) -> Response:
        """Send a request and wait for its response. Raises Broken."""
        assert self._waiting is None
        assert method != "HEAD"
        waiting = self._waiting = self._loop.create_future()
        self._active_at = self._loop.time()
        self._transport.write(message)
        try:
            response: Response = await waiting
        except asyncio.CancelledError:
            self.abort("cancelled")
            raise
        return response

    def is_fresh(self, now: float) -> bool:
        """Tell whether the server is sure to keep the connection open for a moment."""
        return now - self._active_at < KEEPALIVE_S and not self._transport.is_closing()

    def check(self, now: float, idle_s: float) -> None:
        """End the connection if it has been silent for too long."""
        silent_s = now - self._active_at
        if self._waiting is None:
            if silent_s > KEEPALIVE_S:
                self.abort("idle for long")
        elif silent_s > (min(idle_s, REST_S) if self._begun else idle_s):
            self.abort(f"stopped sending for {silent_s:.0f} s")

    def abort(self, why: str) -> None:
        """Close at once; a response that is awaited will not come."""
        self._transport.abort()
        self._fail(Broken(why))

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._all.add(self)

    def data_received(self, data: bytes) -> None:
        self._active_at = self._loop.time()
        if self._waiting is None:  # nobody asked: what follows could be taken for someone else's answer
            self.abort("sent what was not asked for")
            return
        self._begun = True
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade, UnicodeError) as error:
            self.abort(f"sent what is not HTTP ({type(error).__name__})")

    def connection_lost(self, error: Exception | None) -> None:
        self._all.discard(self)
        if self in self._free:
            self._free.remove(self)
        length_known = {"content-length", "transfer-encoding"} & self._headers.keys()
        if error is None and self._has_head and not length_known:
            self._finish(reuse=False)  # the end of the connection is the end of the response
        stale = self._used and not self._begun and self._loop.time() - self._active_at < STALE_S
        self._fail(Broken("closed the connection", stale=stale))

    # the parser's side

    def on_message_begin(self) -> None:
        if self._waiting is None:
            self.abort("sent what was not asked for")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value)
        if self._head_size > MAX_HEAD:
            self.abort("sent headers without end")
        else:
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._has_head = True

    def on_body(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MAX_BODY:
            self.abort(f"sent more than {MAX_BODY >> 20} MB")
        else:
            self._parts.append(data)

    def on_message_complete(self) -> None:
        if (
            self._parser.get_status_code() < 200
        ):  # "wait", "here are some hints": the response is still to come
            self._begin()
            self._begun = True
        else:
            self._finish(reuse=self._parser.should_keep_alive())

    def _finish(self, reuse: bool) -> None:
        waiting, self._waiting = self._waiting, None
        status = self._parser.get_status_code()
        response = Response(status, self._headers, b"".join(self._parts))
        self._used = True
        self._begin()
        if reuse and not self._transport.is_closing():
            self._free.append(self)
        else:
            self._transport.abort()
        if waiting is not None and not waiting.done():
            waiting.set_result(response)

    def _fail(self, broken: Broken) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_exception(broken)


def _words(error: OSError) -> str:
    """Say why there is no connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not valid ({error.verify_message})"
    if isinstance(error, socket.gaierror | ssl.SSLError) or not error.errno:
        return (error.strerror or type(error).__name__).lower()
    return os.strerror(error.errno).lower()  # asyncio's own words are longer

"""One connection of HTTP/1.1, and the requests and responses that pass over it one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple, cast

import httptools

KEEPALIVE_S = 3.0
"""vLLM closes a connection that was idle for 5 s; one that is used at that very moment is lost."""
STALE_S = 1.0
"""A connection lost later than this after a request was sent was not idle for the server."""
REST_S = 60.0
"""Replies are sent in one go: once one has begun, the time without a byte may be so long."""
MAX_BODY = 16 << 20
MAX_HEAD = 1 << 16


class Response(NamedTuple):
    """A whole response."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


class Broken(Exception):
    """The request was sent, and there will be no response."""

    def __init__(self, what: str, *, stale: bool = False) -> None:
        super().__init__(what)
        self.stale = stale
        """The server closed an idle connection just as it was used; it has not seen the request."""


class Exchanges(asyncio.Protocol):
    """One connection, free or with one request."""

    def __init__(self, free: deque[Exchanges], all_: set[Exchanges]) -> None:
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

    async def exchange(self, message: bytes) -> Response:
        """Send a request and wait for its response. Raises Broken."""
        assert self._waiting is None
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

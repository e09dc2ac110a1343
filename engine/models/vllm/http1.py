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
from typing import Any

from engine.models.vllm.exchanges import Broken, Exchanges, Response

CONNECT_S = 10.0
ADDRESSES_S = 60.0


class NotConnected(Exception):
    """No connection could be made, so nothing was sent."""


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
        self._free: deque[Exchanges] = deque()
        self._all: set[Exchanges] = set()
        self._addresses: tuple[float, list[Any]] = (float("-inf"), [])
        self._looking_up = asyncio.Lock()

    async def request(self, method: str, target: str, body: bytes | None = None) -> Response:
        """Send a request and return the response. Raises NotConnected, Broken."""
        message = self._message(method, target, body)
        connection = self._reusable()
        if connection is not None:
            try:
                return await connection.exchange(message)
            except Broken as broken:
                if not broken.stale:
                    raise
                return await self._once_more(message)
        return await (await self._connect()).exchange(message)

    async def _once_more(self, message: bytes) -> Response:
        try:
            return await (await self._connect()).exchange(message)
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

    def _reusable(self) -> Exchanges | None:
        """Return the connection that was used last, if it is fresh."""
        while self._free:
            connection = self._free.pop()
            if connection.is_fresh(asyncio.get_running_loop().time()):
                return connection
            connection.abort("idle for long")
        return None

    async def _connect(self) -> Exchanges:
        loop = asyncio.get_running_loop()
        problem = "no address"
        for family, address in await self._look_up():
            try:
                async with asyncio.timeout(CONNECT_S):
                    _, made = await loop.create_connection(
                        lambda: Exchanges(self._free, self._all),
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


def _words(error: OSError) -> str:
    """Say why there is no connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not valid ({error.verify_message})"
    if isinstance(error, socket.gaierror | ssl.SSLError) or not error.errno:
        return (error.strerror or type(error).__name__).lower()
    return os.strerror(error.errno).lower()  # asyncio's own words are longer

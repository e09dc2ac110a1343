"""A ZeroMQ socket on an asyncio loop, without a future per message.

`zmq.asyncio` costs 11 times a plain receive; here the loop only watches the socket's descriptor, and each
wake drains what is there. The descriptor is edge-triggered and a send can swallow the edge (ZMQ_FD in
zmq_getsockopt(3)), so the socket is looked at again after every send.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeAlias

import zmq

Frames = list[bytes]
Context: TypeAlias = "zmq.Context[zmq.Socket[bytes]]"
MAX_PER_WAKE = 64
MAX_MESSAGE_BYTES = 1 << 30


class Link:
    """One socket; `on_frames` gets every message that comes in."""

    def __init__(self, context: Context, kind: int, on_frames: Callable[[Frames], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_frames = on_frames
        self._socket = context.socket(kind)
        self._socket.linger = 0  # the default waits for ever at exit for a peer that may be dead
        self._socket.sndhwm = self._socket.rcvhwm = 0  # windows and acknowledgements bound what is on its way
        self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
        if kind == zmq.ROUTER:
            self._socket.router_mandatory = True
            self._socket.router_handover = (
                True  # a link made anew may come before the end of the old one is seen
            )
        self._receives = kind != zmq.PUSH
        self._drain_is_due = False
        self._loop.add_reader(self._socket.FD, self._schedule_drain)

    def bind(self, address: str) -> Link:
        """Listen at an address."""
        self._socket.bind(address)
        self._schedule_drain()
        return self

    def connect(self, address: str, identity: bytes) -> Link:
        """Connect to an address under a name that the other side knows; b"" where it need not know one."""
        if identity:
            self._socket.identity = identity
        self._socket.connect(address)
        self._schedule_drain()
        return self

    def send(self, frames: Sequence[bytes]) -> bool:
        """Send a message; return whether the peer that it is for (a ROUTER's) is there."""
        self._schedule_drain()
        try:
            self._socket.send_multipart(frames, zmq.NOBLOCK)
        except zmq.ZMQError:  # EHOSTUNREACH: that peer has gone, and its death is noticed elsewhere
            return False
        return True

    def close(self, linger_s: float = 0.0) -> None:
        """Close, leaving what is queued so long to go out."""
        if not self._socket.closed:
            self._loop.remove_reader(self._socket.FD)
            self._socket.close(linger=int(linger_s * 1000))

    def _schedule_drain(self) -> None:
        if self._receives and not self._drain_is_due:
            self._drain_is_due = True
            self._loop.call_soon(self._drain)

    def _drain(self) -> None:
        self._drain_is_due = False
        for _ in range(MAX_PER_WAKE):
            if self._socket.closed:
                return
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._on_frames(frames)
        self._schedule_drain()

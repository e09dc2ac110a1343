"""A worker's process: sockets around its core, and an end of its own once the main process is gone."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
from typing import Any

import msgspec
import zmq

from engine.workflows.wire import MAIN, Order, Settled, Value
from engine.workflows.worker import Crew, Worker

WATCH_S = 0.5
"""How often a worker looks whether the main process lives."""
GC_THRESHOLD = 50_000
"""Calls that wait are objects that live: with Python's 700, looking for garbage costs a third of the CPU."""


def address(folder: str, number: int) -> str:
    """Return where a process takes messages."""
    return f"ipc://{folder}/{'main' if number == MAIN else number}"


def new_socket(context: Any, kind: int) -> Any:
    """Make a socket that neither drops messages nor waits at the end for who is gone."""
    socket = context.socket(kind)
    socket.linger = 0
    socket.sndhwm = socket.rcvhwm = 0
    return socket


class Node:
    """Moves messages between a worker and the others."""

    def __init__(self, crew: Crew, folder: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._folder = folder
        self._context: Any = zmq.Context()
        self._outgoing: dict[int, Any] = {}
        self._outbox: dict[int, list[Value | Settled]] = {}
        self._decoder = msgspec.msgpack.Decoder(list[Order])
        self._incoming = new_socket(self._context, zmq.PULL)
        self._incoming.bind(address(folder, crew.number))
        self._worker = Worker(crew, self._put, self._loop.call_soon)
        self._loop.add_reader(self._incoming.FD, self._drain)
        self._loop.call_soon(self._drain)

    def _drain(self) -> None:
        """Take all that is there: the descriptor tells of the next message only once none is left."""
        while True:
            try:
                data = self._incoming.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            for order in self._decoder.decode(data):
                self._worker.handle(order)

    def _put(self, to: int, news: Value | Settled) -> None:
        if not self._outbox:
            self._loop.call_soon(self._flush)
        self._outbox.setdefault(to, []).append(news)

    def _flush(self) -> None:
        outbox, self._outbox = self._outbox, {}
        for to, news in outbox.items():
            if to not in self._outgoing:
                self._outgoing[to] = new_socket(self._context, zmq.PUSH)
                self._outgoing[to].connect(address(self._folder, to))
            self._outgoing[to].send(msgspec.msgpack.encode(news))


def run_worker(crew: Crew, folder: str, parent: int) -> None:
    """Serve until the main process ends this one, or is gone."""
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)

    def look(_signal: int, _frame: object) -> None:
        if os.getppid() != parent:
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, WATCH_S, WATCH_S)
    gc.freeze()  # what was inherited stays shared, and is not looked at again
    gc.set_threshold(GC_THRESHOLD)
    asyncio.run(_serve(crew, folder))


async def _serve(crew: Crew, folder: str) -> None:
    node = Node(crew, folder)
    await asyncio.get_running_loop().create_future()
    del node

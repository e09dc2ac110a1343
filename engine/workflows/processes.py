"""The worker processes of a workflow, and the links to them."""

from __future__ import annotations

import multiprocessing
import multiprocessing.util  # its end of the program, which kills children, must come after ours
import os
import shutil
import signal
import tempfile
from multiprocessing.process import BaseProcess
from typing import Any

import msgspec
import zmq

from engine.workflows.node import address, new_socket, run_worker
from engine.workflows.wire import MAIN, News, Order
from engine.workflows.worker import Crew


class Processes:
    """Starts workers by fork, talks with them, notices when they end, and leaves none behind."""

    def __init__(self) -> None:
        # The name has the form by which runs sweep up folders of processes that are gone.
        self._folder = tempfile.mkdtemp(prefix=f"simtui-{os.getpid()}-")
        self._all: dict[int, BaseProcess] = {}
        self._sockets: dict[int, Any] = {}
        self._context: Any = None
        self._inbox: Any = None
        self._decoder = msgspec.msgpack.Decoder(list[News])
        self._poller = zmq.Poller()
        self.lost: dict[int, str] = {}
        """How workers have ended that should not have, by their number."""

    def start(self, groups: list[dict[int, Any]], kinds: list[type]) -> int:
        """Fork a worker for each group of objects; return the number of the first one."""
        first = len(self._all)
        for number, objects in enumerate(groups, start=first):
            arguments = (Crew(number, objects, kinds, self.lost), self._folder, os.getpid())
            make: Any = multiprocessing.get_context("fork")
            process = make.Process(target=run_worker, args=arguments, name=f"worker-{number}", daemon=True)
            process.start()
            self._all[number] = process
            self._poller.register(process.sentinel, zmq.POLLIN)
        self._open()
        for number in range(first, len(self._all)):
            self._sockets[number] = new_socket(self._context, zmq.PUSH)
            self._sockets[number].connect(address(self._folder, number))
        return first

    def _open(self) -> None:
        """Make sockets, and with them threads, only after the first workers were forked."""
        if self._context is None:
            self._context = zmq.Context()
            self._inbox = new_socket(self._context, zmq.PULL)
            self._inbox.bind(address(self._folder, MAIN))
            self._poller.register(self._inbox, zmq.POLLIN)

    @property
    def living(self) -> list[int]:
        """Numbers of the workers that have not ended."""
        return [number for number in self._all if number not in self.lost]

    def send(self, to: int, orders: list[Order]) -> None:
        """Send without waiting; what is for a lost worker is lost."""
        if to not in self.lost:
            self._sockets[to].send(msgspec.msgpack.encode(orders), zmq.NOBLOCK)

    def receive(self, timeout_s: float | None) -> tuple[list[News], list[int]]:
        """Return what has come, and who has ended. None waits until there is something."""
        self._poller.poll(None if timeout_s is None else int(timeout_s * 1000))
        ended = [number for number in self.living if not self._all[number].is_alive()]
        news: list[News] = []
        while True:
            try:
                news += self._decoder.decode(self._inbox.recv(zmq.NOBLOCK))
            except zmq.Again:
                break
        for number in ended:
            self._poller.unregister(self._all[number].sentinel)
            self.lost[number] = _how_it_ended(self._all[number])
        return news, ended

    def end(self) -> None:
        """End all workers at once, and do not come back before they are gone."""
        for process in self._all.values():
            process.kill()
        for process in self._all.values():
            process.join()
        if self._context is not None:
            for socket in (self._inbox, *self._sockets.values()):
                socket.close(linger=0)
            self._context.term()
        shutil.rmtree(self._folder, ignore_errors=True)


def _how_it_ended(process: BaseProcess) -> str:
    process.join()
    code = process.exitcode or 0
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return f"{process.name} (process {process.pid}) {how}; values that were still to come from it are lost"

"""The guessing game as one would write it with asyncio alone, a task an agent: what simtui is compared with.

    python -m tests.bench.task_per_agent AGENTS DATABASE [one|many]

One process plays all agents, another is the model, which takes a second for each request. With "one" every
request and reply is a message of its own, through zmq.asyncio; with "many" those of one turn of the event
loop travel together. There is neither a failure ledger nor a second try nor progress.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import re
import sqlite3
import sys
import tempfile
from typing import Any

import msgspec
import zmq
import zmq.asyncio

LATENCY_S = 1.0
COMMIT_ROWS = 10_000
RULES = (
    "You take part in a game with {} players. In each round every player names a whole number from 0 to 100, "
    "all at the same time. The target is 2/3 of the average of all the numbers named. Whoever is closest to "
    "the target wins the round. You want to win. Reply with your number alone."
)

pack, unpack = msgspec.msgpack.encode, msgspec.msgpack.decode


class Journal:
    """Prompts, replies and values, in one table."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("CREATE TABLE replies (agent INTEGER PRIMARY KEY, prompt, text, value)")
        self._rows: list[tuple[int, str, str, float]] = []

    def add(self, agent: int, prompt: Any, text: str, value: float) -> None:
        self._rows.append((agent, msgspec.json.encode(prompt).decode(), text, value))
        if len(self._rows) >= COMMIT_ROWS:
            self.commit()

    def commit(self) -> None:
        with self._db:
            self._db.executemany("INSERT INTO replies VALUES (?, ?, ?, ?)", self._rows)
        self._rows.clear()


class Model:
    """Asks the model's process; a reply resolves the future of the agent that waits for it."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._waiting: dict[int, asyncio.Future[str]] = {}

    async def ask(self, agent: int, prompt: Any) -> str:
        reply = self._waiting[agent] = asyncio.get_running_loop().create_future()
        await self.send((agent, prompt))
        return await reply

    async def send(self, request: Any) -> None:
        await self._socket.send(pack(request))

    async def receive(self) -> None:
        while True:
            self.take(unpack(await self._socket.recv()))

    def take(self, reply: Any) -> None:
        agent, text = reply
        self._waiting.pop(agent).set_result(text)


class BatchedModel(Model):
    """Sends together what is asked in one turn of the event loop."""

    def __init__(self, socket: Any) -> None:
        super().__init__(socket)
        self._requests: list[Any] = []

    async def send(self, request: Any) -> None:
        if not self._requests:
            asyncio.get_running_loop().call_soon(self._flush)
        self._requests.append(request)

    def _flush(self) -> None:
        self._socket.send(pack(self._requests))
        self._requests.clear()

    def take(self, reply: Any) -> None:
        for each in reply:
            super().take(each)


async def player(agent: int, rules: str, model: Model, journal: Journal) -> float:
    """One turn of one agent."""
    question = f"You are player {agent + 1}. Round 1 of 1: which number do you choose?"
    prompt = [("system", rules), ("user", question)]
    text = await model.ask(agent, prompt)
    if not re.fullmatch(r"\s*\d{1,3}\s*", text) or not 0 <= int(text) <= 100:
        raise ValueError(f"agent {agent} was told {text!r}")
    journal.add(agent, prompt, text, float(text))
    return float(text)


async def play(n_agents: int, database: str, address: str, many: bool) -> None:
    """Play a round."""
    socket = _socket(zmq.DEALER)
    socket.connect(address)
    model = BatchedModel(socket) if many else Model(socket)
    journal = Journal(database)
    receiver = asyncio.create_task(model.receive())
    rules = RULES.format(n_agents)
    guesses = await asyncio.gather(*(player(agent, rules, model, journal) for agent in range(n_agents)))
    journal.commit()
    receiver.cancel()
    socket.close()
    print(f"{len(guesses)} guesses, average {sum(guesses) / n_agents:.2f}")


async def serve(address: str, many: bool) -> None:
    """Answer each request a second after it came."""
    socket = _socket(zmq.ROUTER)
    socket.bind(address)

    def answer(client: bytes, agents: list[int]) -> None:
        replies = [(agent, str(random.randint(0, 100))) for agent in agents]
        socket.send_multipart([client, pack(replies if many else replies[0])])

    while True:
        client, payload = await socket.recv_multipart()
        requests = unpack(payload) if many else [unpack(payload)]
        agents = [agent for agent, _ in requests]
        asyncio.get_running_loop().call_later(LATENCY_S, answer, client, agents)


def _socket(kind: int) -> Any:
    socket = zmq.asyncio.Context.instance().socket(kind)
    socket.sndhwm = socket.rcvhwm = 0
    socket.linger = 0
    return socket


def _serve(address: str, many: bool) -> None:
    asyncio.run(serve(address, many))


def main(agents: str, database: str, messages: str = "one") -> None:
    """Play one round and exit."""
    with tempfile.TemporaryDirectory() as folder:
        address, many = f"ipc://{folder}/model", messages == "many"
        model = multiprocessing.get_context("spawn").Process(target=_serve, args=(address, many))
        model.start()
        asyncio.run(play(int(agents), database, address, many))
        model.terminate()
        model.join()


if __name__ == "__main__":
    main(*sys.argv[1:])

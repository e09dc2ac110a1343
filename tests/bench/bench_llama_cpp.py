"""How fast the llama.cpp backend is, against llama-cpp-python's own class and llama.cpp's own server.

    python tests/bench/bench_llama_cpp.py [--requests N] [--sequential N] [--server PATH] [--only PART ...]

Everything is measured in one run on one machine with the same weights and the same prompts: rules of about
290 tokens that all share, a persona of about 80, at most 64 new tokens. Wall times mean something only on an
idle machine; CPU times are printed beside them because they hold on a busy one as well.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import pytest

from engine.models.answers import Answer, Number, Text
from engine.models.llama_cpp.backend import LlamaCppBackend
from engine.models.protocol import Catalogue, Message, Result, Sampling
from engine.models.settings import LlamaCpp
from tests.bench.game_prompts import DIRECT, OPEN, RULES, conversations
from tests.bench.llama_server import Reply, Server
from tests.fakes.model_calls import ask, calls

Tail = tuple[Message, ...]
SEQUENCES = 32
SAMPLING = Sampling(temperature=0.8, top_p=0.95, top_k=40, max_tokens=64)


@dataclass(frozen=True)
class Measured:
    """One way of answering, by what it took for each request."""

    name: str
    requests: int
    wall_s: float
    cpu_s: float
    tokens: int

    def line(self, reference: Measured) -> str:
        """One row of the table, with the ratios to a reference."""
        each = self.wall_s / self.requests
        return (
            f"{self.name:44} {self.requests:5} {1 / each:8.2f} req/s {self.tokens / self.wall_s:7.1f} tok/s"
            f" {self.cpu_s / self.requests:7.3f} CPU s/req"
            f"   x{reference.wall_s / reference.requests / each:5.2f} wall"
            f"  x{reference.cpu_s / reference.requests / self.cpu_s * self.requests:5.2f} CPU"
        )


@contextmanager
def stopwatch(name: str, process: psutil.Process | None = None) -> Iterator[Callable[[int, int], Measured]]:
    """Yield what makes the measurement, to be called at the end with the numbers of requests and tokens."""
    watched = process or psutil.Process()
    wall, before = time.perf_counter(), watched.cpu_times()

    def stop(requests: int, tokens: int) -> Measured:
        after = watched.cpu_times()
        cpu = after.user + after.system - before.user - before.system
        return Measured(name, requests, time.perf_counter() - wall, cpu, tokens)

    yield stop


class Engine:
    """The backend with as many sequences as the server gets."""

    def __init__(self, cache: Path, *, reproducible: bool) -> None:
        self.catalogue = Catalogue()
        settings = LlamaCpp(sequences=SEQUENCES, reproducible=reproducible, context_tokens=2048)
        self.backend = LlamaCppBackend(settings, self.catalogue, 1, cache)
        self.name = f"simtui, {'reproducible' if reproducible else 'fast'}"
        self.facts = asyncio.run(self.backend.open())

    def play(self, answer: Answer, tails: Sequence[Tail], round_: int = 1) -> list[Result]:
        """Answer all conversations."""
        requests = calls(self.catalogue, answer, tails, prefix=(RULES,), sampling=SAMPLING, round_=round_)
        return ask(self.backend, requests, 3600)

    def measure(self, answer: Answer, tails: Sequence[Tail], what: str) -> Measured:
        """Answer all conversations, rules and all else from scratch."""
        with stopwatch(f"{self.name}: {what}") as stop:
            results = self.play(answer, tails)
            return stop(len(results), sum(result.tokens_out for result in results))

    def close(self) -> None:
        asyncio.run(self.backend.close())


def sequential(weights: Path, tails: Sequence[Tail], threads: int) -> Measured:
    """llama-cpp-python's class, which keeps the beginning that a prompt shares with the one before it."""
    import llama_cpp

    one = llama_cpp.Llama(str(weights), n_ctx=2048, n_threads=threads, n_threads_batch=threads, verbose=False)
    tokens = 0
    options = {"temperature": 0.8, "top_p": 0.95, "top_k": 40, "min_p": 0.0, "max_tokens": 64}
    try:
        for n, tail in enumerate([tails[-1], *tails[:-1]]):  # the first one warms up
            if n == 1:
                watch = stopwatch(f"llama_cpp.Llama, {threads} thread{'s' * (threads > 1)}")
                stop = watch.__enter__()
            reply = one.create_chat_completion([_plain(message) for message in (RULES, *tail)], **options)
            tokens += reply["usage"]["completion_tokens"] * (n > 0)
        return stop(len(tails) - 1, tokens)
    finally:
        one.close()


def server_measure(server: Server, tails: Sequence[Tail], what: str) -> Measured:
    """llama.cpp's server, asked by as many connections as it has slots."""
    with stopwatch(f"llama-server, {server.slots} slots: {what}", server.process) as stop:
        replies = server.chat([[_plain(message) for message in (RULES, *tail)] for tail in tails], SAMPLING)
        return stop(len(tails), sum(reply.tokens for reply in replies))


def five_rounds(play: Callable[[Sequence[Tail], int], list[Reply]], agents: int) -> int:
    """Play a game in which conversations grow by reply and announcement; return the tokens written."""
    past, tokens = conversations(agents, OPEN), 0
    for round_ in range(1, 6):
        replies = play(past, round_)
        tokens += sum(reply.tokens for reply in replies)
        news = Message("user", f"Round {round_}: the mean was {50 - 7 * round_}. {OPEN}")
        past = [
            (*tail, Message("assistant", reply.text), news) for tail, reply in zip(past, replies, strict=True)
        ]
    return tokens


def free_text(cache: Path, weights: Path, count: int, few: int, server: Server | None) -> None:
    """Up to 64 tokens of free text."""
    tails = conversations(count, OPEN)
    rows = [sequential(weights, tails[: few + 1], threads) for threads in (1, psutil.cpu_count() or 1)]
    if server:
        rows.append(server_measure(server, tails, "free text"))
    for reproducible in (True, False):
        engine = Engine(cache, reproducible=reproducible)
        rows.append(engine.measure(Text(), tails, "free text"))
        engine.close()
    report(rows)


def number(cache: Path, weights: Path, count: int, few: int, server: Server | None) -> None:
    """A bare number instead of 64 free tokens: every player with a persona, and all with one prompt."""
    rows = [sequential(weights, conversations(few + 1, DIRECT), 1)]
    for what, tails in (
        ("number, own persona", conversations(count, DIRECT)),
        ("number, same prompt", [(Message("user", DIRECT),)] * count),
    ):
        engine = Engine(cache, reproducible=True)
        rows.append(engine.measure(Number(0, 100), tails, what))
        engine.close()
    report(rows)


def rounds(cache: Path, weights: Path, count: int, few: int, server: Server | None) -> None:
    """Five rounds with growing histories."""
    rows = []
    if server:
        with stopwatch("llama-server: five rounds", server.process) as stop:
            tokens = five_rounds(partial(server_round, server), count)
            rows.append(stop(5 * count, tokens))
    for reproducible in (True, False):
        engine = Engine(cache, reproducible=reproducible)
        with stopwatch(f"{engine.name}: five rounds") as stop:
            tokens = five_rounds(partial(engine_round, engine), count)
            rows.append(stop(5 * count, tokens))
        engine.close()
    report(rows)


def server_round(server: Server, tails: Sequence[Tail], round_: int) -> list[Reply]:
    """One round against the server."""
    return server.chat([[_plain(message) for message in (RULES, *tail)] for tail in tails], SAMPLING)


def engine_round(engine: Engine, tails: Sequence[Tail], round_: int) -> list[Reply]:
    """One round against the backend; prints how much of the prompts it knew."""
    results = engine.play(Text(), tails, round_)
    cached = sum(result.tokens_cached for result in results) / sum(result.tokens_in for result in results)
    print(f"{engine.name}: round {round_}, {cached:.0%} of the prompt tokens cost nothing")
    return [Reply(result.text, result.tokens_out) for result in results]


PARTS = {"free-text": free_text, "number": number, "rounds": rounds}


def report(rows: Sequence[Measured]) -> None:
    """Print all rows against the first."""
    print(*(row.line(rows[0]) for row in rows), sep="\n", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=200, help="requests for what runs in batches")
    parser.add_argument("--sequential", type=int, default=24, help="requests for what runs one by one")
    parser.add_argument("--server", type=Path, help="llama-server of the same llama.cpp, to compare with")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        Engine(cache, reproducible=True).close()  # converts the weights
        weights = next(cache.glob("*.gguf"))
        for part in given.only:
            load = ", ".join(f"{value:.1f}" for value in psutil.getloadavg())
            print(f"\n{part} ({PARTS[part].__doc__}) load averages {load}", flush=True)
            server = Server(given.server, weights, 2 * SEQUENCES) if given.server else None
            PARTS[part](cache, weights, given.requests, given.sequential, server)
            if server:
                server.close()


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_llama_cpp() -> None:
    """A short form for `make bench`; the full one takes some minutes."""
    main(["--requests", "64", "--sequential", "8", "--only", "free-text", "number"])


def _plain(message: Message) -> dict[str, str]:
    return {"role": message.role, "content": message.content}


if __name__ == "__main__":
    main()

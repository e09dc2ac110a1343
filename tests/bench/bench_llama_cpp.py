"""How fast the llama.cpp backend is, against llama-cpp-python's own class and llama.cpp's own server.

    python tests/bench/bench_llama_cpp.py [--requests N] [--sequential N] [--server PATH] [--only PART ...]

Everything is measured in one run on one machine with the same weights and the same prompts: rules of about
290 tokens that all share, a persona of about 80, at most 64 new tokens. All take turns, and the best turn of
each counts, for other work on the machine only slows them; how much of that there was is printed beside it.
CPU times hold on a busy machine as well.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
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
from tests.bench.machine import load
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
    others: float
    """Cores that the rest of the machine kept busy meanwhile."""

    def line(self, reference: Measured) -> str:
        """One row of the table, with the ratios to a reference."""
        each = self.wall_s / self.requests
        return (
            f"{self.name:42} {self.requests:5} {1 / each:8.2f} req/s {self.tokens / self.wall_s:7.1f} tok/s"
            f" {self.cpu_s / self.requests:7.3f} CPU s/req, others {self.others:.1f}"
            f"   x{reference.wall_s / reference.requests / each:5.2f} wall"
            f"  x{reference.cpu_s / reference.requests / self.cpu_s * self.requests:5.2f} CPU"
        )


@dataclass(frozen=True)
class Setup:
    """What all parts need."""

    cache: Path
    requests: int
    sequential: int

    @property
    def weights(self) -> Path:
        """The converted weights, which everyone uses."""
        return next(self.cache.glob("*.gguf"))


def stopwatch(name: str, process: psutil.Process | None = None) -> Callable[[int, int], Measured]:
    """Start measuring; what is returned ends it, and takes the numbers of requests and tokens."""
    watched = process or psutil.Process()
    began, cpu_before, all_before = time.perf_counter(), _cpu(watched), _cpu_of_all()

    def stop(requests: int, tokens: int) -> Measured:
        wall, cpu = time.perf_counter() - began, _cpu(watched) - cpu_before
        others = max(0.0, (_cpu_of_all() - all_before - cpu) / wall)
        return Measured(name, requests, wall, cpu, tokens, others)

    return stop


def _cpu(process: psutil.Process) -> float:
    used = process.cpu_times()
    return used.user + used.system


def _cpu_of_all() -> float:
    used = psutil.cpu_times()
    return used.user + used.nice + used.system


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
        stop = stopwatch(f"{self.name}: {what}")
        results = self.play(answer, tails)
        return stop(len(results), sum(result.tokens_out for result in results))

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run(self.backend.close())


def sequential(setup: Setup, tails: Sequence[Tail], threads: int, what: str = "") -> Measured:
    """llama-cpp-python's class, which keeps the beginning that a prompt shares with the one before it."""
    import llama_cpp

    tails = tails[: setup.sequential + 1]
    one = llama_cpp.Llama(
        str(setup.weights), n_ctx=2048, n_threads=threads, n_threads_batch=threads, verbose=False
    )
    tokens = 0
    options = {"temperature": 0.8, "top_p": 0.95, "top_k": 40, "min_p": 0.0, "max_tokens": 64}
    try:
        for n, tail in enumerate([tails[-1], *tails[:-1]]):  # the first one warms up
            if n == 1:
                stop = stopwatch(f"llama_cpp.Llama, {threads} thread{'s' * (threads > 1)}{what}")
            reply = one.create_chat_completion([_plain(message) for message in (RULES, *tail)], **options)
            tokens += reply["usage"]["completion_tokens"] * (n > 0)
        return stop(len(tails) - 1, tokens)
    finally:
        one.close()


def server_measure(server: Server, tails: Sequence[Tail], what: str) -> Measured:
    """llama.cpp's server, asked by as many connections as it has slots."""
    stop = stopwatch(f"llama-server, {server.slots} slots: {what}", server.process)
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


def free_text(setup: Setup, server: Server | None) -> Iterator[Measured]:
    """Up to 64 tokens of free text."""
    tails = conversations(setup.requests, OPEN)
    for threads in (1, psutil.cpu_count() or 1):
        yield sequential(setup, tails, threads)
    if server:
        yield server_measure(server, tails, "free text")
    for reproducible in (True, False):
        with Engine(setup.cache, reproducible=reproducible) as engine:
            yield engine.measure(Text(), tails, "free text")


def number(setup: Setup, server: Server | None) -> Iterator[Measured]:
    """A bare number instead of 64 free tokens: with a number, as in the study, a persona, or one prompt."""
    players = [(Message("user", f"You are player {n}. {OPEN}"),) for n in range(setup.requests)]
    yield sequential(setup, players, 1, ", no persona")
    yield sequential(setup, conversations(setup.requests, OPEN), 1)
    numbered = [(Message("user", f"You are player {n}. {DIRECT}"),) for n in range(setup.requests)]
    own, same = conversations(setup.requests, DIRECT), [(Message("user", DIRECT),)] * setup.requests
    for reproducible, what, tails in (
        (True, "number, as in the study", numbered),
        (True, "number, own persona", own),
        (False, "number, own persona", own),
        (True, "number, same prompt", same),
    ):
        with Engine(setup.cache, reproducible=reproducible) as engine:
            yield engine.measure(Number(0, 100), tails, what)


def rounds(setup: Setup, server: Server | None) -> Iterator[Measured]:
    """Five rounds with growing histories."""
    if server:
        stop = stopwatch("llama-server: five rounds", server.process)
        yield stop(5 * setup.requests, five_rounds(partial(server_round, server), setup.requests))
    for reproducible in (True, False):
        with Engine(setup.cache, reproducible=reproducible) as engine:
            stop = stopwatch(f"{engine.name}: five rounds")
            yield stop(5 * setup.requests, five_rounds(partial(engine_round, engine), setup.requests))


def server_round(server: Server, tails: Sequence[Tail], round_: int) -> list[Reply]:
    """One round against the server."""
    return server.chat([[_plain(message) for message in (RULES, *tail)] for tail in tails], SAMPLING)


def engine_round(engine: Engine, tails: Sequence[Tail], round_: int) -> list[Reply]:
    """One round against the backend; prints how much of the prompts it knew."""
    results = engine.play(Text(), tails, round_)
    cached = sum(result.tokens_cached for result in results) / sum(result.tokens_in for result in results)
    print(f"{engine.name}: round {round_}, {cached:.0%} of the prompt tokens cost nothing")
    return [Reply(result.text, result.tokens_out) for result in results]


Part = Callable[[Setup, Server | None], Iterator[Measured]]
PARTS: dict[str, Part] = {"free-text": free_text, "number": number, "rounds": rounds}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--requests", type=int, default=200, help="requests for what runs in batches")
    parser.add_argument("--sequential", type=int, default=24, help="requests for what runs one by one")
    parser.add_argument("--server", type=Path, help="llama-server of the same llama.cpp, to compare with")
    parser.add_argument("--slots", type=int, default=2 * SEQUENCES, help="slots of that server")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure")
    parser.add_argument("--turns", type=int, default=1, help="how often everyone has its turn")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        with Engine(Path(folder), reproducible=True):
            pass  # converts the weights
        setup = Setup(Path(folder), given.requests, given.sequential)
        for part in given.only:
            print(f"\n{part} ({PARTS[part].__doc__}) {load()}", flush=True)
            best: dict[str, Measured] = {}
            for _ in range(given.turns):
                take_turns(PARTS[part], setup, given, best)
            print("best turns", *(row.line(next(iter(best.values()))) for row in best.values()), sep="\n")


def take_turns(part: Part, setup: Setup, given: argparse.Namespace, best: dict[str, Measured]) -> None:
    """Measure everyone once, with a server that remembers nothing, and keep what was better than before."""
    with Server(given.server, setup.weights, given.slots) if given.server else nullcontext() as server:
        for row in part(setup, server):
            print(row.line(row), flush=True)
            if row.name not in best or row.wall_s < best[row.name].wall_s:
                best[row.name] = row


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_llama_cpp() -> None:
    """A short form for `make bench`; the full one takes some minutes."""
    main(["--requests", "64", "--sequential", "8", "--only", "free-text", "number"])


def _plain(message: Message) -> dict[str, str]:
    return {"role": message.role, "content": message.content}


if __name__ == "__main__":
    main()

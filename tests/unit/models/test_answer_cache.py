"""The answer cache, in front of a backend that counts what it is asked."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.keys import pack
from engine.models.answer_cache import FROM_CACHE, CachedBackend
from engine.models.answers import Text
from engine.models.protocol import Catalogue, Finish, Form, Message, Request, Result, Sampling

KEY = pack(1, 7)


class Counting:
    """Answers every request with its number."""

    def __init__(self, finish: Finish = Finish.STOP, model: str = "m") -> None:
        self.asked: list[int] = []
        self.finish = finish
        self.model = model

    async def open(self) -> dict[str, Any]:
        return {"sha256": self.model}

    def submit(self, requests: Any, deliver: Any) -> None:
        self.asked += [request.key for request in requests]
        deliver(
            [Result(r.key, f"reply {len(self.asked)}", self.finish, 10, 2, logprob=-0.5) for r in requests]
        )

    async def close(self) -> None: ...


def ask(
    backend: Counting,
    path: Path,
    *,
    seed: int = 1,
    temperature: float = 1.0,
    key: int = KEY,
    say: str = "hello",
) -> Result:
    """Open the cache anew, as another run would, and ask once."""
    catalogue = Catalogue()
    catalogue.prefixes[1] = (Message("system", "rules"),)
    catalogue.forms[1] = Form(Text(), Sampling(temperature=temperature))
    tail = msgspec.Raw(msgspec.msgpack.encode((Message("user", say),)))
    got: list[Result] = []

    async def run() -> None:
        cached = CachedBackend(backend, catalogue, seed, path)
        await cached.open()
        cached.submit([Request(key, 1, 1, tail)], got.extend)
        await cached.close()

    asyncio.run(run())
    (result,) = got
    return result


def test_a_file_that_cannot_be_costs_hits_only(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    backend = Counting()
    for path in (tmp_path / "file" / "a.db", tmp_path):
        assert ask(backend, path).samples == 1
    assert len(backend.asked) == 2


def test_a_second_run_pays_nothing_and_says_so(tmp_path: Path) -> None:
    backend = Counting()
    first = ask(backend, tmp_path / "a.db")
    second = ask(backend, tmp_path / "a.db")
    assert backend.asked == [KEY]
    assert (first.samples, second.samples) == (1, FROM_CACHE)
    assert (second.text, second.finish, second.tokens_in, second.tokens_out) == (
        "reply 1",
        Finish.STOP,
        10,
        2,
    )
    assert second.busy_s == 0.0
    assert second.logprob == first.logprob == -0.5


@pytest.mark.parametrize("other", [{"seed": 2}, {"key": pack(1, 8)}, {"say": "bye"}, {"temperature": 0.5}])
def test_what_a_reply_depends_on_makes_another_request(tmp_path: Path, other: dict[str, Any]) -> None:
    backend = Counting()
    ask(backend, tmp_path / "a.db")
    ask(backend, tmp_path / "a.db", **other)
    assert len(backend.asked) == 2


def test_another_model_makes_another_request(tmp_path: Path) -> None:
    ask(Counting(), tmp_path / "a.db")
    other = Counting(model="n")
    ask(other, tmp_path / "a.db")
    assert other.asked == [KEY]


def test_greedy_requests_share_whoever_asks(tmp_path: Path) -> None:
    backend = Counting()
    ask(backend, tmp_path / "a.db", temperature=0)
    ask(backend, tmp_path / "a.db", temperature=0, seed=2, key=pack(3, 4))
    assert backend.asked == [KEY]


def test_failures_are_not_kept(tmp_path: Path) -> None:
    backend = Counting(Finish.TIMEOUT)
    ask(backend, tmp_path / "a.db")
    ask(backend, tmp_path / "a.db")
    assert len(backend.asked) == 2


def test_a_damaged_file_costs_hits_only(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database at all" * 100)
    backend = Counting()
    assert ask(backend, tmp_path / "a.db").text == "reply 1"


def test_where_a_model_runs_makes_no_difference_if_the_backend_tells_what_does(tmp_path: Path) -> None:
    class Served(Counting):
        async def open(self) -> dict[str, Any]:
            return {"identity": {"model": self.model}, "servers": [f"http://host:{id(self)}"]}

    path = tmp_path / "answers.db"
    assert ask(Served(), path).samples == 1
    assert ask(Served(), path).samples == FROM_CACHE
    assert ask(Served(model="other"), path).samples == 1

"""Servers that the run starts itself: kept up, ended with all their processes, explained when they fail."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ModelError
from engine.models.answers import Text
from engine.models.protocol import Finish
from engine.models.settings import Launch, Vllm
from engine.models.vllm import breaker, launch, replica
from tests.fakes.fake_vllm import install
from tests.fakes.http_backend import Service
from tests.fakes.model_calls import user
from tests.fakes.processes import alive


@pytest.fixture(autouse=True)
def _haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "POLL_S", 0.02)
    monkeypatch.setattr(launch, "AGAIN_S", 0.01)
    monkeypatch.setattr(breaker, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(breaker, "MAX_WAIT_S", 0.1)


class Started:
    """A backend that starts servers, and the processes that these have."""

    def __init__(self, folder: Path, *, fake: str = "", **options: Any) -> None:
        self.folder = folder
        self.told: list[str] = []
        variables = {"PIDS": str(folder / "pids"), "FAKE": fake}
        chosen = {
            "model": "weights",
            "environment": str(install(folder / "environment")),
            "replicas": 1,
            "variables": variables,
            **options,
        }
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        self.one = Service(
            Vllm(launch=Launch(**chosen)),
            folder / "servers",
            look_s=0.02,
            tick_s=0.01,
            environment=environment,
            tell=self.told.append,
        )

    @property
    def pids(self) -> list[tuple[int, int]]:
        """The number of each server that has started, and of its child."""
        try:
            lines = (self.folder / "pids").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [(int(first), int(second)) for first, second in map(str.split, lines)]

    async def all_gone(self) -> None:
        await until(lambda: not any(map(alive, [pid for pair in self.pids for pid in pair])))

    async def ask(self, round_: int = 1) -> str:
        (result,) = await self.one.ask(self.one.calls(Text(), [user("?")], round_=round_))
        assert result.finish is Finish.STOP
        return result.text


async def until(condition: Callable[[], Any]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def run(test: Awaitable[None]) -> None:
    asyncio.run(asyncio.wait_for(test, 60))


def test_servers_are_started_asked_and_stopped(tmp_path):
    async def test() -> None:
        started = Started(tmp_path, replicas=2, arguments=("--dtype", "float32"))
        facts = await started.one.backend.open()
        assert len(facts["servers"]) == len(started.pids) == 2
        assert started.told[0] == "starting 2 times vllm serve weights"
        assert sorted(re.sub(r"\d+$", "", line) for line in started.told[1:]) == [
            "server 0 is ready on port ",
            "server 1 is ready on port ",
        ]
        assert facts["identity"]["model"] == "weights"
        assert await started.ask() in {str(pid) for pid, _ in started.pids}
        log = (tmp_path / "servers" / "0.log").read_text()
        assert "serve weights" in log
        assert "--dtype float32 key" in log
        await started.one.backend.close()
        await started.all_gone()

    run(test())


def test_a_server_that_dies_is_started_again_and_its_requests_are_not_lost(tmp_path):
    async def test() -> None:
        started = Started(tmp_path)
        await started.one.backend.open()
        before = await started.ask()
        os.kill(started.pids[0][0], signal.SIGKILL)
        after = await started.ask(2)
        assert before != after == str(started.pids[1][0])
        await until(lambda: not alive(started.pids[0][1]))  # it left no child behind
        await started.one.backend.close()
        await started.all_gone()

    run(test())


def test_a_server_that_keeps_dying_is_given_up(tmp_path, caplog):
    async def test() -> None:
        started = Started(tmp_path, restarts=1)
        await started.one.backend.open()
        for n in (0, 1):
            await until(lambda n=n: len(started.pids) > n)
            os.kill(started.pids[n][0], signal.SIGKILL)
        await until(lambda: "not started again" in caplog.text)
        assert len(started.pids) == 2
        await started.one.backend.close()

    run(test())


def test_a_server_that_cannot_start_is_explained(tmp_path, capfd):
    async def test() -> None:
        started = Started(tmp_path, fake="crash")
        with pytest.raises(ModelError, match="server 0 ended while it was starting") as caught:
            await started.one.backend.open()
        await started.one.backend.close()
        text = str(caught.value)
        assert "(EngineCore) ValueError: the model's weights are made of cheese" in text
        assert "exit code 3" in text
        assert str(tmp_path / "servers" / "0.log") in text

    run(test())
    assert capfd.readouterr() == ("", "")  # a server writes to its log, never to the terminal


def test_a_server_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "TELL_S", 0.01)

    async def test() -> None:
        started = Started(tmp_path, fake="stuck", ready_s=0.3)
        with pytest.raises(ModelError, match=r"not ready after 0.3 s"):
            await started.one.backend.open()
        assert started.told[-1].startswith("server 0 is starting: ")
        await started.one.backend.close()
        await started.all_gone()

    run(test())


def test_one_that_does_not_hear_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(replica, "GRACE_S", 0.1)

    async def test() -> None:
        started = Started(tmp_path)
        await started.one.backend.open()
        os.kill(started.pids[0][0], signal.SIGSTOP)
        await started.one.backend.close()
        await started.all_gone()

    run(test())


def test_without_an_environment_vllm_is_looked_for(tmp_path):
    async def test() -> None:
        started = Started(tmp_path, environment="")
        started.one.backend._environment = {"PATH": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
        with pytest.raises(ModelError, match="no program vllm on PATH"):
            await started.one.backend.open()
        await started.one.backend.close()

    run(test())


ORPHAN = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.integration.models.test_vllm_launch import Started

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)  # as a model service does

async def main():
    await Started(Path(sys.argv[1])).one.backend.open()
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_servers_do_not_outlive_a_run_that_is_killed(tmp_path):
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", ORPHAN, str(tmp_path)], cwd=root, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    lines = (tmp_path / "pids").read_text().split()
    assert len(lines) == 2
    run(until(lambda: not any(map(alive, map(int, lines)))))

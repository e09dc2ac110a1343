"""llama.cpp's own server as something to compare with: started, asked, stopped."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import psutil

from engine.models.protocol import Sampling


class Reply(NamedTuple):
    """What came back."""

    text: str
    tokens: int


class Server:
    """A server process with so many slots, using every core."""

    def __init__(self, program: Path, weights: Path, slots: int, tokens_per_slot: int = 2048) -> None:
        self.slots = slots
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        threads = psutil.cpu_count() or 1
        self._started = subprocess.Popen(
            [
                *(program, "-m", weights, "--host", "127.0.0.1", "--port", str(self._port)),
                *("-np", str(slots), "-c", str(slots * tokens_per_slot), "--no-kv-unified"),
                *("-t", str(threads), "-tb", str(threads), "--no-webui"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "passive")},
        )
        self.process = psutil.Process(self._started.pid)
        self._await()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the process."""
        self._started.terminate()
        self._started.wait()

    def chat(self, conversations: Sequence[list[dict[str, str]]], sampling: Sampling) -> list[Reply]:
        """Answer all conversations, with one connection a slot."""
        with ThreadPoolExecutor(self.slots) as pool:
            return list(pool.map(lambda messages: self._ask(messages, sampling), conversations))

    def _ask(self, messages: list[dict[str, str]], sampling: Sampling) -> Reply:
        body = {
            "messages": messages,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "min_p": sampling.min_p,
            "max_tokens": sampling.max_tokens,
            "cache_prompt": True,
        }
        reply = self._call("POST", "/v1/chat/completions", json.dumps(body))
        return Reply(reply["choices"][0]["message"]["content"], reply["usage"]["completion_tokens"])

    def _call(self, method: str, path: str, body: str | None = None) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=3600)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read()
            if response.status != 200:
                raise RuntimeError(f"llama-server answered {response.status}: {data[:200]!r}")
            return json.loads(data)
        finally:
            connection.close()

    def _await(self) -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self._started.poll() is None:
            try:
                self._call("GET", "/health")
            except (OSError, RuntimeError, http.client.HTTPException):
                time.sleep(0.1)
            else:
                return
        self.close()
        raise RuntimeError("llama-server did not start")

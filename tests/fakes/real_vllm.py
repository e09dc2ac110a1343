"""A real vLLM on the CPU, started by the backend itself: `tests/vllm_server/install.sh` puts it there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from engine.models.settings import Launch, Vllm
from tests.fakes.http_backend import Service

ENVIRONMENT = Path(__file__).parents[2] / ".venv-vllm"
MODEL = ENVIRONMENT / "models" / "tiny"
INSTALLED = any(ENVIRONMENT.glob(".tiny-*"))

ARGUMENTS = (
    *("--dtype", "float32"),  # processors without AVX-512 compute bfloat16 at half the speed, or worse
    *("--enforce-eager", "--max-model-len", "2048", "--max-num-seqs", "64"),
    # On the CPU, a seed with a prompt that is cut into chunks ends the engine (vLLM 0.32).
    *("--no-enable-chunked-prefill", "--max-num-batched-tokens", "4096"),
)
VARIABLES = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


class RealVllm(Service):
    """The backend with its server, on an event loop that goes on from call to call."""

    def __init__(
        self, runner: asyncio.Runner, folder: Path, arguments: tuple[str, ...], **settings: Any
    ) -> None:
        launch = Launch(
            model=str(MODEL),
            environment=str(ENVIRONMENT),
            replicas=1,
            arguments=ARGUMENTS + arguments,
            variables=VARIABLES,
        )
        super().__init__(
            Vllm(launch=launch, **settings), folder, environment={**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        )
        self.run = runner.run


@contextmanager
def real_vllm(folder: Path, *arguments: str, **settings: Any) -> Iterator[RealVllm]:
    """Start a server with a backend; at the end, nothing of it may be left."""
    me = psutil.Process()
    with asyncio.Runner() as runner:
        one = RealVllm(runner, folder, arguments, **settings)
        try:
            one.facts = runner.run(one.backend.open())
            yield one
        finally:
            runner.run(one.backend.close())
    assert [child.name() for child in me.children(recursive=True)] == []

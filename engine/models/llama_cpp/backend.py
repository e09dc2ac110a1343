"""The llama.cpp backend: a GGUF model on this machine behind the batch protocol."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.models.llama_cpp.embedded import model_file
from engine.models.llama_cpp.library import load_library
from engine.models.llama_cpp.outbox import Outbox
from engine.models.protocol import Catalogue, Deliver, Finish, Request, Result
from engine.models.settings import LlamaCpp

if TYPE_CHECKING:
    from engine.models.llama_cpp.engine import Engine


class LlamaCppBackend:
    """Decodes in threads of its own; the event loop only hands requests over and results out.

    Run it in a process that was spawned and does nothing else: the native library may abort its process, and
    what it starts does not survive a fork.
    """

    def __init__(
        self,
        settings: LlamaCpp,
        catalogue: Catalogue,
        seed: int,
        cache_dir: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`seed` is the run's; `cache_dir` is where converted weights are kept."""
        self._settings = settings
        self._catalogue = catalogue
        self._seed = seed
        self._cache_dir = cache_dir
        self._clock = clock
        self._engine: Engine | None = None
        self._process = 0

    async def open(self) -> dict[str, Any]:
        """Load the model, and return what decides about its replies. Raises ModelError."""
        return await asyncio.to_thread(self._open)

    def _open(self) -> dict[str, Any]:
        version = load_library()
        from engine.models.llama_cpp.engine import Engine  # these need the library
        from engine.models.llama_cpp.requantise import load

        settings = self._settings
        file, sha256 = model_file(settings.path, settings.sha256)
        model = load(file, sha256, self._cache_dir)
        self._engine = Engine(settings, model, self._catalogue, self._seed, self._clock)
        self._process = os.getpid()
        mode = "reproducible" if settings.reproducible else "fast"
        decides = {"sha256": sha256, "llama_cpp_python": version, "mode": mode}
        # The rest may be another at the next start: the size of caches follows from the memory that is free.
        return {"file": file.name, **decides, **self._engine.describe(), "identity": decides}

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Take a batch; every request is answered once, through `deliver`, in the event loop."""
        outbox = Outbox(asyncio.get_running_loop(), deliver)
        refusal, prefixes, forms = self._refusal(), self._catalogue.prefixes, self._catalogue.forms
        known = []
        for request in requests:
            if refusal or request.prefix not in prefixes or request.form not in forms:
                outbox.put(Result(request.key, refusal or "its shared part was never sent", Finish.ERROR))
            else:
                known.append(request)
        if self._engine is not None:
            self._engine.put(known, outbox.put, self._clock())

    def _refusal(self) -> str:
        if self._engine is None:
            return "the llama.cpp backend is not open"
        if os.getpid() != self._process:
            return "the llama.cpp backend was opened in another process; its threads do not survive a fork"
        return ""

    async def close(self) -> None:
        """Stop decoding and free the model; requests still open are answered with an error."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        for branch in await asyncio.to_thread(engine.close):
            branch.fail(Finish.ERROR, "the model service was closed", self._clock())

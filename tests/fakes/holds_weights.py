"""`python -m tests.fakes.holds_weights CACHE`: opens the embedded model and keeps it until its input ends.

As a service of a run does; it prints a line once it is ready.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from engine.models.llama_cpp.backend import LlamaCppBackend
from engine.models.protocol import Catalogue
from engine.models.settings import LlamaCpp

if __name__ == "__main__":
    settings = LlamaCpp(contexts=1, sequences=1, context_tokens=256, state_cache_bytes=0)
    backend = LlamaCppBackend(settings, Catalogue(), 1, Path(sys.argv[1]))
    asyncio.run(backend.open())
    print("ready", flush=True)
    sys.stdin.read()
    asyncio.run(backend.close())

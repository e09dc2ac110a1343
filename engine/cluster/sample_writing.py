"""A handful of personas, written without a run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from engine.cluster import backends
from engine.cluster.control import WritingReport
from engine.cluster.endpoints import Endpoints
from engine.cluster.setup import Setup
from engine.cluster.writing import Writing
from engine.journal.batch import JournalBatch
from engine.models.protocol import Catalogue, RequestBatch, Result
from engine.population.people import People
from engine.population.persona.texts import Texts
from engine.preset.schema import Budget, Preset


class _NoJournal:
    def add(self, batch: JournalBatch) -> None:
        """Keep nothing."""

    def commit(self) -> None:
        """Keep nothing."""


Tell = Callable[[str], None]


def write_personas(
    preset: Preset, chosen: Sequence[int], cache: Path, tell: Tell
) -> tuple[People, WritingReport]:
    """Return the people of a preset, with personas that its model has written of those who are chosen.

    `cache` is the folder where replies are kept, as of runs; `tell` takes what there is to say while the
    model is made ready. The preset has to have a writer. Raises SimtuiError.
    """
    with TemporaryDirectory(prefix="simtui-") as scratch:
        preset = msgspec.structs.replace(preset, budget=Budget())
        setup = Setup(preset, Path(scratch), Endpoints.in_folder(scratch), cache)
        assert setup.people is not None
        return asyncio.run(_write(setup, setup.people, chosen, tell))


async def _write(
    setup: Setup, people: People, chosen: Sequence[int], tell: Tell
) -> tuple[People, WritingReport]:
    catalogue = Catalogue()
    replies: asyncio.Queue[list[Result]] = asyncio.Queue()

    def ask(_: str, batch: RequestBatch) -> None:
        batch = msgspec.msgpack.decode(msgspec.msgpack.encode(batch), type=RequestBatch)  # as over a link
        catalogue.learn(batch)
        backend.submit(batch.requests, replies.put_nowait)

    writing = Writing(setup, _NoJournal(), ask, time.monotonic, chosen)
    backend, _ = backends.make(setup, writing.model, catalogue, tell)
    try:
        writing.go_on({f"model-{writing.model}": await backend.open()})
        while not writing.is_done:
            writing.take(await replies.get())
    finally:
        await backend.close()
        writing.close()
    return replace(people, written=Texts(people.n, writing.written.items())), writing.report()

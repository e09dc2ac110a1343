"""Replies of earlier runs, given again to requests that are equal in everything a reply depends on.

That is: the model (its file's hash, or what its server says it is), the whole conversation, the form of the
answer and the sampling, and, unless the sampling is greedy, the seed of the request. So a second run with
the same seed pays nothing, and one with another seed draws anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from engine.draws import mix
from engine.models.protocol import Backend, Catalogue, Deliver, Finish, Request, Result

FROM_CACHE = 0
"""`Result.samples` of a reply that no request was made for."""

LOCK_WAIT_S = 5.0

_encode = msgspec.msgpack.Encoder().encode
_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
  id BLOB PRIMARY KEY, text TEXT, finish TEXT, tokens_in INTEGER, tokens_out INTEGER, logprob REAL
) WITHOUT ROWID"""
_LOOK_UP = "SELECT text, finish, tokens_in, tokens_out, logprob FROM replies WHERE id = ?"


def _connect(path: Path) -> sqlite3.Connection:
    """Open a file; one in memory where that cannot be."""
    try:
        return sqlite3.connect(path, timeout=LOCK_WAIT_S, isolation_level=None)
    except sqlite3.Error:
        return sqlite3.connect(":memory:", isolation_level=None)


class CachedBackend:
    """Any backend behind a file of answers, which concurrent runs may share.

    A file that cannot be read or written costs hits, never the run.
    """

    def __init__(self, backend: Backend, catalogue: Catalogue, seed: int, path: Path) -> None:
        self._backend = backend
        self._catalogue = catalogue
        self._seed = seed
        self._path = path
        self._model = b""
        self._forms: dict[int, bytes] = {}

    async def open(self) -> dict[str, Any]:
        """Load the model and open the file. Raises ModelError, for the model."""
        description = await self._backend.open()
        self._model = _encode(description.get("identity", description))  # where it runs makes no difference
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _connect(self._path)
        with suppress(sqlite3.Error):
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = OFF")  # losing a cached answer costs one request
            self._file.execute(_SCHEMA)
        return {**description, "answer_cache": str(self._path)}

    def submit(self, requests: Sequence[Request], deliver: Deliver) -> None:
        """Answer what is in the file; ask the backend for the rest, and keep that."""
        ids = {request.key: self._id(request) for request in requests}
        found = [hit for request in requests if (hit := self._look_up(request.key, ids[request.key]))]
        known = {hit.key for hit in found}
        if found:
            deliver(found)
        missing = [request for request in requests if request.key not in known]
        if missing:
            self._backend.submit(missing, partial(self._keep, ids, deliver))

    async def close(self) -> None:
        """Close the file and the backend."""
        await self._backend.close()
        self._file.close()

    def _id(self, request: Request) -> bytes:
        """Hash what the reply depends on."""
        form = self._catalogue.forms[request.form]
        greedy = form.sampling.temperature == 0
        digest = blake2b(self._model, digest_size=16)
        digest.update(_encode(form))
        digest.update(_encode(self._catalogue.prefixes[request.prefix]))
        digest.update(bytes(request.tail))
        digest.update(b"" if greedy else mix(self._seed, request.key).to_bytes(8, "big"))
        return digest.digest()

    def _look_up(self, key: int, id_: bytes) -> Result | None:
        with suppress(sqlite3.Error):
            row = self._file.execute(_LOOK_UP, (id_,)).fetchone()
            if row is not None:
                text, finish, n_in, n_out, logprob = row
                return Result(key, text, Finish(finish), n_in, n_out, samples=FROM_CACHE, logprob=logprob)
        return None

    def _keep(self, ids: dict[int, bytes], deliver: Deliver, results: list[Result]) -> None:
        rows = [
            (ids[r.key], r.text, r.finish, r.tokens_in, r.tokens_out, r.logprob)
            for r in results
            if r.finish in (Finish.STOP, Finish.LENGTH)
        ]
        with suppress(sqlite3.Error, UnicodeEncodeError):
            self._file.execute("BEGIN")
            self._file.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._file.execute("COMMIT")
        deliver(results)

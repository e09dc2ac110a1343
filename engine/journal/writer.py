"""Writes the run file. Only the coordinator has a writer, so the file has one writer at a time."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from engine.journal.batch import (
    CALLS_COLUMNS,
    FAILURE_COLUMNS,
    MESSAGE_COLUMNS,
    PLAIN,
    PLAIN_COLUMNS,
    REPLY_COLUMNS,
    SNAPSHOT_COLUMNS,
    JournalBatch,
)
from engine.journal.faults import journal_faults
from engine.journal.people import Attribute, write_people
from engine.journal.rounds import ROUND_COLUMNS, Round
from engine.journal.schema import migrate
from engine.journal.storable import json_text, storable_text, storable_value
from engine.journal.totals import update_totals
from engine.journal.version import check_version, is_empty
from engine.keys import MAX_ROUNDS

COMMIT_ROWS = 20_000
"""Rows that wait at most. With keys in scattered order a row costs 7 us at this size and 11 us at 2,000: more
rows share a page that has to be written."""

CACHE_KIB = 65_536
CHECKPOINT_PAGES = 4_000
LOCK_WAIT_S = 30.0


PRICES = ("price_in", "price_out", "price_cached", "currency")


def _insert(verb: str, table: str, columns: Sequence[str], constants: Mapping[str, str] = {}) -> str:
    """Return the statement; all parts are words of this program, never data."""
    names, values = (
        ", ".join((*columns, *constants)),
        ", ".join(("?",) * len(columns) + (*constants.values(),)),
    )
    return f"INSERT OR {verb} INTO {table} ({names}) VALUES ({values})"  # noqa: S608


_REPLIES = _insert("IGNORE", "replies", REPLY_COLUMNS)
_PLAIN = _insert("IGNORE", "replies", PLAIN_COLUMNS, PLAIN)
_FAILURES = _insert("IGNORE", "failures", FAILURE_COLUMNS)
_PREFIXES = _insert("IGNORE", "prefixes", ("id", "messages"))
_FORMS = _insert("IGNORE", "forms", ("id", "form"))
# A question gets its row when it is taken up, and its answer later.
_MESSAGES = f"""{_insert("ABORT", "messages", MESSAGE_COLUMNS)} ON CONFLICT (round, receiver, kind, turn)
DO UPDATE SET answer = excluded.answer, error = excluded.error
WHERE excluded.answer IS NOT NULL OR excluded.error IS NOT NULL"""
_CALLS = _insert("IGNORE", "_environment_calls", CALLS_COLUMNS)
_MODELS = _insert("REPLACE", "models", ("id", "name", "backend", "description", *PRICES))
_SLICES = _insert("REPLACE", "slices", ("id", "name"))
_ROUNDS = _insert("IGNORE", "rounds", ROUND_COLUMNS)
_EVENTS = _insert("ABORT", "events", ("time", "kind", "detail"))
_PERSONAS = _insert("REPLACE", "personas", ("agent", "written", "text"))
_BIRTHS = _insert("IGNORE", "births", ("agent", "parent", "round", "name", "attributes", "persona"))
_RETIREMENTS = _insert("IGNORE", "retirements", ("agent", "round", "said_by"))
_POPULATION = _insert("REPLACE", "population", ("part", "report"))
_SNAPSHOTS = _insert("REPLACE", "_snapshots", SNAPSHOT_COLUMNS)
_META = _insert("REPLACE", "meta", ("key", "value"))


class Writer:
    """Collects rows and writes them when `COMMIT_ROWS` wait or `commit` is called, all or none.

    What is committed survives the end of this process by any means; without `flush`, a loss of power may take
    what came after SQLite's last checkpoint. Every method may raise JournalError. What was committed before
    stays readable, and `commit` may be tried again.
    """

    def __init__(
        self,
        path: Path,
        *,
        now: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.perf_counter,
        flush: bool = False,
    ) -> None:
        """Open or create the file.

        `now` dates events (seconds since 1970), `timer` measures own time; with `flush`, what is committed is
        on the disk.
        """
        self.seconds = 0.0
        """Time spent in here so far."""
        self.replies = 0
        """Replies written."""
        self.duplicates = 0
        """Replies whose key was there already; the first one stays."""
        self._path = path
        self._now = now
        self._timer = timer
        self._waiting: list[tuple[str, Sequence[tuple[Any, ...]]]] = []
        self._n_waiting = 0
        self._failed = False
        with self._writing("the run file cannot be opened"):
            self._db = Database(sqlite3.connect(path, timeout=LOCK_WAIT_S), execute_plugins=False)
            try:
                _prepare(self._db, path, flush)
            except BaseException:
                self._db.close()
                raise

    def add(self, batch: JournalBatch) -> None:
        """Take a worker's batch."""
        self._put(_PREFIXES, batch.prefixes)
        self._put(_FORMS, batch.forms)
        self._put(_FAILURES, batch.failures)
        self._put(_MESSAGES, batch.messages)
        self._put(_CALLS, batch.calls)
        self._put(_SNAPSHOTS, batch.snapshots)
        self._put(_REPLIES, batch.replies)
        self._put(_PLAIN, batch.plain)

    def rounds(self, rounds: Iterable[Round]) -> None:
        """Take the ends of rounds; one that is there already stays as it is."""
        self._put(_ROUNDS, [round_.row() for round_ in rounds])

    def model(
        self,
        model_id: int,
        name: str,
        backend: str,
        description: Mapping[str, Any],
        prices: tuple[float, float, float, str] | None = None,
    ) -> None:
        """Say what the number of a model in the replies stands for; `prices` are in the order of PRICES."""
        row = (model_id, storable_text(name), backend, json_text(description), *(prices or [None] * 4))
        self._put(_MODELS, [row])

    def slices(self, names: Sequence[str]) -> None:
        """Say what the numbers of the slices in the replies stand for, from 1."""
        self._put(_SLICES, [(number, storable_text(name)) for number, name in enumerate(names, start=1)])

    def keep_snapshots(self, first: int, last: int = MAX_ROUNDS) -> None:
        """Delete the snapshots of rounds before `first` and after `last`."""
        self._put("DELETE FROM _snapshots WHERE NOT round BETWEEN ? AND ?", [(first, last)])

    def event(self, kind: str, detail: str) -> None:
        """Note something that happened to the run."""
        self._put(_EVENTS, [(self._now(), kind, storable_text(detail))])

    def meta(self, facts: Mapping[str, Any]) -> None:
        """Note facts about the whole run."""
        self._put(_META, [(key, storable_value(value)) for key, value in facts.items()])

    def people(self, n: int, attributes: Sequence[Attribute]) -> None:
        """Write what is known of `n` people, at once."""
        with self._writing("the people cannot be written"), self._db.atomic():
            write_people(self._db.conn, n, attributes)

    def personas(self, rows: Iterable[tuple[int, bool, str]]) -> None:
        """Take personas: the agent, whether a model wrote it, and the text."""
        left = iter(rows)
        while part := list(islice(left, COMMIT_ROWS)):
            self._put(
                _PERSONAS, [(agent, int(written), storable_text(text)) for agent, written, text in part]
            )

    def births(self, rows: Iterable[tuple[int, int, int, str, Any, str]]) -> None:
        """Take newcomers: agent, parent, first round, name, attributes and persona."""
        self._put(
            _BIRTHS,
            [
                (agent, parent, round_, storable_text(name), json_text(attributes), storable_text(persona))
                for agent, parent, round_, name, attributes, persona in rows
            ],
        )

    def retirements(self, rows: Sequence[tuple[int, int, int]]) -> None:
        """Take those who left: agent, first round without it, and who said so."""
        self._put(_RETIREMENTS, rows)

    def population(self, part: str, report: Any) -> None:
        """Note a part of the report on the population."""
        self._put(_POPULATION, [(part, json_text(report))])

    def commit(self) -> None:
        """Write what waits, in one transaction."""
        if not self._waiting:
            return
        self._failed = True
        with self._writing("the journal cannot be written"), self._db.atomic():
            written = [self._db.conn.executemany(sql, rows).rowcount for sql, rows in self._waiting]
            update_totals(self._db.conn)
        self._failed = False
        for (sql, rows), n in zip(self._waiting, written, strict=True):
            if sql in (_REPLIES, _PLAIN):
                self.replies += n
                self.duplicates += len(rows) - n
        self._waiting.clear()
        self._n_waiting = 0

    def close(self) -> None:
        """Write what waits, unless that has failed before, and leave one plain file."""
        try:
            if not self._failed:
                self.commit()
            # Without a WAL the file opens on read-only media too. A reader that is still there prevents that.
            with suppress(sqlite3.OperationalError):
                self._db.disable_wal()
        finally:
            self._db.close()

    def _put(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if rows:
            self._waiting.append((statement, rows))
            self._n_waiting += len(rows)
            if self._n_waiting >= COMMIT_ROWS:
                self.commit()

    @contextmanager
    def _writing(self, problem: str) -> Iterator[None]:
        started = self._timer()
        try:
            with journal_faults(self._path, lambda: self._tell(problem)):
                yield
        finally:
            self.seconds += self._timer() - started

    def _tell(self, problem: str) -> str:
        if not self._n_waiting:
            return problem
        return f"{problem} ({self.replies:,} replies are kept, the last {self._n_waiting:,} rows are not)"


def _prepare(db: Database, path: Path, flush: bool) -> None:
    """Set up a connection and bring the file to this version of the schema."""
    if not is_empty(db.conn):
        check_version(db.conn, path)
    db.enable_wal()
    db.execute(f"PRAGMA synchronous = {'FULL' if flush else 'NORMAL'}")
    db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    migrate(db)

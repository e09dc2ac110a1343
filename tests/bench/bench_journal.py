"""What a reply costs in the journal, and what other ways of writing it would cost; CPU time, best of two."""

import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from sqlite_utils import Database

from engine.journal.batch import REPLY_COLUMNS, JournalBatch, ReplyRow
from engine.journal.recorder import Recorder
from engine.journal.transcripts import Transcripts
from engine.journal.writer import CACHE_KIB, CHECKPOINT_PAGES, COMMIT_ROWS, Writer
from engine.keys import pack, unpack
from engine.models.protocol import Finish, Message, Result
from tests.fakes.journal import replies_of

pytestmark = pytest.mark.bench

N = 200_000
BATCH = 2_000
PROMPT = (
    "You are player {}. You are 34 years old, work as a nurse in Leeds and like chess. "
    "Round 1. Name a whole number from 0 to 100. Reply with the number alone, nothing else."
)


@dataclass(slots=True)
class Call:
    """A request, as the journal sees it."""

    key: int
    tail: tuple[Message, ...]
    prefix: int = 1 << 62
    form: int = 1 << 61


def us_a_row(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) / N * 1e6


def best(work: Callable[[], float]) -> float:
    return min(work() for _ in range(2))


def report(title: str, costs: dict[str, float]) -> None:
    base = next(iter(costs.values()))
    print(f"\n{title}, us of CPU a reply")
    for name, cost in costs.items():
        print(f"  {cost:6.2f}  x{cost / base:4.1f}  {name}")


def record(agents: Sequence[int], transcripts: str = "all") -> list[JournalBatch]:
    recorder = Recorder(Transcripts.parse(transcripts), 65_536)
    batches = []
    for n, agent in enumerate(agents, 1):
        call = Call(pack(1, agent), (Message("user", PROMPT.format(agent)),))
        result = Result(call.key, str(agent % 101), Finish.STOP, 180, 4, 120, 0.01, 1.0)
        prompt = random.getrandbits(63)
        recorder.reply(call, result, model=1, prompt=prompt, value=float(agent % 101), problem=None)
        if n % BATCH == 0:
            batches.append(recorder.take())
    return batches


def over_the_wire(batch: JournalBatch) -> JournalBatch:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(batch), type=JournalBatch)


def ascending() -> list[int]:
    return list(range(N))


def scattered() -> list[int]:
    """The order in which a model with long-tailed latency replies."""
    agents = ascending()
    random.Random(1).shuffle(agents)
    return agents


def test_against_the_row_api(tmp_path: Path) -> None:
    """The same rows as dicts, through sqlite-utils' insert_all."""
    batches = [over_the_wire(batch) for batch in record(ascending())]

    def writer() -> float:
        (tmp_path / "run.db").unlink(missing_ok=True)
        journal = Writer(tmp_path / "run.db")
        spent = us_a_row(lambda: [*map(journal.add, batches), journal.commit()])
        journal.close()
        return spent

    def insert_all() -> float:
        (tmp_path / "rows.db").unlink(missing_ok=True)
        db = Database(tmp_path / "rows.db")
        db.enable_wal()
        rows = (dict(zip(REPLY_COLUMNS, row, strict=True)) for batch in batches for row in replies_of(batch))
        spent = us_a_row(lambda: db.table("replies").insert_all(rows, pk="key", ignore=True))
        db.close()
        return spent

    costs = {"the journal's writer": best(writer), "sqlite-utils insert_all": best(insert_all)}
    report("Writing decoded batches", costs)
    assert costs["sqlite-utils insert_all"] > 2 * costs["the journal's writer"]


_PARTS = (
    "round INTEGER AS (key >> 43), agent INTEGER AS ((key >> 12) & 2147483647), call INTEGER AS (key & 4095)"
)
_AT = REPLY_COLUMNS.index("messages")
_REST = ", ".join(column for column in REPLY_COLUMNS[1:] if column != "messages")


def _messages_last(row: ReplyRow) -> tuple[object, ...]:
    return (*row[:_AT], *row[_AT + 1 :], row[_AT])


_LAYOUTS: dict[str, tuple[list[str], Callable[[ReplyRow], list[tuple[object, ...]]]]] = {
    "index on the key, rows in order of arrival": (
        [f"replies (key INTEGER NOT NULL, {_PARTS}, {_REST}, messages, UNIQUE (key))"],
        lambda row: [_messages_last(row)],
    ),
    "the key as primary key": (
        [f"replies (key INTEGER PRIMARY KEY, {_PARTS}, {_REST}, messages)"],
        lambda row: [_messages_last(row)],
    ),
    "round, agent and call as columns, with an index": (
        [f"replies (round, agent, call, {_REST}, messages, UNIQUE (round, agent, call))"],
        lambda row: [(*unpack(row[0]), *_messages_last(row)[1:])],
    ),
    "prompts in a table of their own, by hash": (
        [
            f"replies (key INTEGER NOT NULL, {_PARTS}, {_REST}, UNIQUE (key))",
            "prompts (id INTEGER PRIMARY KEY, messages)",
        ],
        lambda row: [row[:_AT] + row[_AT + 1 :], (row[2], row[_AT])],
    ),
}


def write(path: Path, tables: list[str], rows: list[list[tuple[object, ...]]]) -> None:
    """Write rows of several tables, as the journal's writer would."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    for table in tables:
        connection.execute(f"CREATE TABLE {table}")
    for start in range(0, N, COMMIT_ROWS):
        connection.execute("BEGIN")
        for table, given in zip(tables, rows, strict=True):
            marks = ", ".join("?" * len(given[0]))
            insert = f"INSERT OR IGNORE INTO {table.split()[0]} VALUES ({marks})"
            connection.executemany(insert, given[start : start + COMMIT_ROWS])
        connection.execute("COMMIT")
    connection.close()


@pytest.mark.parametrize("order", [ascending, scattered])
def test_against_other_layouts(tmp_path: Path, order: Callable[[], list[int]]) -> None:
    rows = [row for batch in record(order()) for row in replies_of(batch)]
    costs = {}
    for name, (tables, split) in _LAYOUTS.items():
        by_table = [list(given) for given in zip(*map(split, rows), strict=True)]

        def fresh(tables: list[str] = tables, given: list[list[tuple[object, ...]]] = by_table) -> float:
            (tmp_path / "run.db").unlink(missing_ok=True)
            return us_a_row(lambda: write(tmp_path / "run.db", tables, given))

        costs[name] = best(fresh)
    report(f"Writing with prompts, keys {order.__name__}", costs)
    ours, primary_key, _, by_hash = costs.values()
    assert by_hash > 1.2 * ours
    if order is scattered:
        assert primary_key > 1.2 * ours


@pytest.mark.parametrize("transcripts", ["all", "none"])
def test_from_worker_to_file(tmp_path: Path, transcripts: str) -> None:
    """Every step on the way of a reply; the first includes making the prompt."""
    agents = ascending()
    batches: list[JournalBatch] = []
    costs = {"request made and reply recorded": us_a_row(lambda: batches.extend(record(agents, transcripts)))}
    packed: list[bytes] = []
    decoder = msgspec.msgpack.Decoder(JournalBatch)
    journal = Writer(tmp_path / "run.db")
    costs["encoded"] = us_a_row(lambda: packed.extend(map(msgspec.msgpack.encode, batches)))
    decoded: list[JournalBatch] = []
    costs["decoded"] = us_a_row(lambda: decoded.extend(map(decoder.decode, packed)))
    costs["written"] = us_a_row(lambda: [*map(journal.add, decoded), journal.commit()])
    journal.close()
    report(f"Transcripts {transcripts}", costs)
    assert journal.replies == N

"""Snapshots of agents between two rounds: when there are any, and how they get to the journal and back."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from engine.agents.frozen import HINT, Frozen
from engine.cluster.setup import Setup
from engine.cluster.share import Share
from engine.cluster.wire import Begin
from engine.errors import JournalError
from engine.journal.batch import SnapshotRow
from engine.journal.history import History
from engine.journal.run_directory import RunDirectory
from engine.journal.snapshots import Snapshot, last_snapshot
from engine.journal.writer import Writer

PART = 1000
"""Agents in a row."""

_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(list[Frozen])


def every(setup: Setup) -> int:
    """Return the number of rounds between snapshots; 0 for none.

    There are none in a replay, which shows that the replies are enough, nor where an answer may stand for a
    later one, nor with environments, nor where agents come and go: last answers, environments and births are
    in no snapshot.
    """
    if setup.scenario_type.environments or setup.scenario_type.dynamic:
        return 0
    uses_last = any(s.preset.answers.on_failure == "last" for _, s in setup.phases)
    return 0 if setup.replay_of or uses_last else setup.preset.journal.snapshot_every


def to_go_on_from(setup: Setup, journal: Writer, n_rounds: int) -> Snapshot | None:
    """Return the snapshot from which a run with so many finished rounds goes on; drop unfinished ones."""
    if not every(setup):
        return None
    run_file = RunDirectory(setup.directory).run_file
    found = last_snapshot(run_file, setup.code, setup.placement.n_agents, n_rounds)
    last = found.round if found else 0
    journal.keep_snapshots(0, last)
    journal.commit()
    return found


def parts(setup: Setup, share: Share, order: Begin) -> Iterator[SnapshotRow]:
    """Yield the rows of a share that is about to begin a round; none if agents do not declare their state."""
    for first in range(share.members.start, share.members.stop, PART):
        agents = range(first, min(first + PART, share.members.stop))
        frozen = share.freeze(agents)
        if frozen is None:
            return
        row = (order.round - 1, order.group, first, len(agents), setup.code)
        yield (*row, bytes(order.observation), _encode(frozen))


def restore(share: Share, history: History, round_: int) -> None:
    """Make the agents of a share as they were at the end of a round. Raises JournalError, SimtuiError."""
    for first, content in history.snapshots(round_, share.members):
        try:
            frozen = _decoder.decode(content)
        except msgspec.DecodeError as error:
            raise JournalError(
                f"a snapshot cannot be read: {error}", where=f"round {round_}, agent {first}", hint=HINT
            ) from error
        share.thaw(round_, first, frozen)

"""What coordinator, workers and model services say to each other: msgpack structs, never pickles."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.agents.births import Changes, Wish
from engine.models.spent import Spent


class Trouble(msgspec.Struct, frozen=True, array_like=True):
    """An error that crossed a link: the parts of a SimtuiError, or an unexpected one with its traceback."""

    what: str
    where: str = ""
    hint: str = ""
    traceback: str = ""


class Work(msgspec.Struct, array_like=True):
    """What a process has spent and done since it started; sums, so that a lost report loses nothing."""

    cpu_s: float = 0.0
    model_s: float = 0.0
    agents_s: float = 0.0
    messages_s: float = 0.0
    idle_s: float = 0.0
    n_done: int = 0
    """Turns ended, failed ones included."""
    n_open: int = 0
    """Model requests without a reply, now."""
    failures: dict[str, int] = {}
    spent: list[tuple[str, int, Spent]] = []
    """By model and number of the slice; of a model service only if there is a budget."""
    n_held: int = 0
    """Requests that a model service holds back because the budget has no room for the next one."""
    n_unsent: int = 0
    """Journal rows that a worker has not yet handed over."""


# coordinator -> worker


class Begin(msgspec.Struct, array_like=True, tag=1):
    """Let a group begin a round. `expected` messages told in the round before, by group, have to be in."""

    group: int
    round: int
    observation: msgspec.Raw
    expected: dict[int, int]
    changes: Changes = Changes()
    """Who has come and gone since the round before."""


class Settle(msgspec.Struct, array_like=True, tag=11):
    """End a round in the environments of a group, or of the world (-1), when so many messages are in."""

    group: int
    round: int
    expected: dict[int, int]


class Written(msgspec.Struct, array_like=True, tag=2):
    """So many more of this worker's journal rows are in the file."""

    rows: int


class AskAgain(msgspec.Struct, array_like=True, tag=8):
    """A model service has been started anew and knows nothing: send it all open requests."""

    model: str


class Allow(msgspec.Struct, frozen=True, array_like=True, tag=9):
    """A model service may use so many tokens and so much money in all, from its start on."""

    tokens: float
    money: float


class StandStill(msgspec.Struct, array_like=True, tag=10):
    """Nothing in the whole run has moved for the deadline: agents wait for each other."""


class Shutdown(msgspec.Struct, array_like=True, tag=3):
    """End."""


# worker or service -> coordinator


class Ready(msgspec.Struct, array_like=True, tag=4):
    """I am up. A service says what it loaded."""

    pid: int
    description: dict[str, Any] = {}


class ShareDone(msgspec.Struct, array_like=True, tag=5):
    """Members of a group on this worker have ended a round."""

    group: int
    round: int
    tally: msgspec.Raw
    n_answered: int
    n_excluded: int
    n_failed: int
    """Members that have stopped, in this round or before."""
    sent: dict[int, int]
    """Messages told to agents on other workers, by worker."""
    n_affected: int = 0
    """Members with an entry in the failure ledger in this round."""
    unaffected: bytes = b""
    """The tally without them, packed like `tally`; empty if there are none."""
    block: int = 0
    """0: those that the run began with; from 1: newcomers, in parts."""
    wishes: list[Wish] = []
    """Children that members have asked for, in the order of the members."""
    retiring: list[tuple[int, int]] = []
    """Who is to retire, and who has said so."""
    is_empty: bool = False
    """Whether none of these newcomers has been born; then there is no tally."""


class Settled(msgspec.Struct, array_like=True, tag=12):
    """The environments of a group, or of the world, have ended a round."""

    group: int
    round: int
    reports: dict[str, Any]
    """By name of the environment."""
    sent: dict[int, int]
    """Messages told by them on other workers, by worker."""


class Progress(msgspec.Struct, array_like=True, tag=6):
    """A sign of life, a few times a second."""

    work: Work


class Failed(msgspec.Struct, array_like=True, tag=7):
    """I cannot go on."""

    trouble: Trouble


class Told(msgspec.Struct, array_like=True, tag=8):
    """Something to be told while a model is made ready."""

    text: str


ToWorker = Begin | Settle | Written | AskAgain | StandStill | Shutdown
ToService = Allow | Shutdown
ToCoordinator = Ready | ShareDone | Settled | Progress | Failed | Told

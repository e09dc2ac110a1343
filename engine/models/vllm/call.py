"""What is asked of servers: one prompt, for one reply or for several."""

from __future__ import annotations

from asyncio import Task, TimerHandle
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.models.vllm.outbox import Outbox

if TYPE_CHECKING:
    from engine.models.vllm.server import Server


class Member(NamedTuple):
    """A request that waits for one of the replies."""

    key: int
    outbox: Outbox


class Spent(NamedTuple):
    """What earlier parts of a reply have cost."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0


class Call:
    """Requests with one prompt. It ends exactly once, however often and wherever it is tried."""

    __slots__ = (
        "agent",
        "arrived",
        "attempts",
        "avoid",
        "begun",
        "done",
        "dropped",
        "form",
        "logprob",
        "members",
        "order",
        "prefix",
        "resent",
        "round",
        "samples",
        "spent",
        "start",
        "started",
        "tail",
        "timer",
        "tries",
    )

    def __init__(
        self, prefix: int, form: int, tail: bytes, *, round_: int, agent: int, order: int, arrived: float
    ) -> None:
        self.prefix = prefix
        self.form = form
        self.tail = tail
        self.round = round_
        self.agent = agent
        self.order = order
        self.arrived = arrived
        self.members: list[Member] = []
        self.samples = 0
        """How many requests it began with."""
        self.start = 0
        """Where the tail begins, after what had to be dropped."""
        self.dropped = 0
        self.begun = ""
        """Text of the reply so far: what is asked for is its second part."""
        self.logprob = 0.0
        """Of that text."""
        self.spent = Spent()
        self.started: float | None = None
        self.tries = 0
        self.resent = 0
        """How often a server has failed at it, or has sent it back."""
        self.avoid: int | None = None
        """The server that it failed at last."""
        self.attempts: list[Attempt] = []
        self.timer: TimerHandle | None = None
        self.done = False

    def __lt__(self, other: Call) -> bool:
        """Order by round, then by arrival."""
        return (self.round, self.order) < (other.round, other.order)

    def part(self, member: Member, begun: str, spent: Spent) -> Call:
        """Return the call for the second part of one member's reply."""
        other = Call(
            self.prefix,
            self.form,
            self.tail,
            round_=self.round,
            agent=self.agent,
            order=self.order,
            arrived=self.arrived,
        )
        other.members = [member]
        other.samples = self.samples
        other.start, other.dropped, other.resent = self.start, self.dropped, self.resent
        other.begun, other.logprob = begun, self.logprob
        other.spent, other.started = spent, self.started
        return other

    def end(self) -> None:
        """Note that nothing more is to be done for it."""
        assert not self.done
        self.done = True
        if self.timer is not None:
            self.timer.cancel()


class Attempt:
    """A call with a server."""

    __slots__ = ("call", "era", "n", "over", "sent", "server", "task")

    def __init__(self, call: Call, server: Server, n: int, sent: float) -> None:
        self.call = call
        self.server = server
        self.n = n
        """How many replies were asked for."""
        self.sent = sent
        self.era = server.breaker.era
        self.over = False
        self.task: Task[Any] | None = None

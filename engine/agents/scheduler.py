"""The trampoline: drives the coroutines of all agents on a worker, one `send` at a time.

It does no input or output. What an effect waits for is started by the effect, and whoever has the value hands
it to `complete` or `fail`.
"""

from __future__ import annotations

from asyncio import Future
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, MutableSequence
from contextlib import contextmanager, suppress
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Protocol

from engine.agents.effects import Effect
from engine.errors import SimtuiError
from engine.journal.history import End
from engine.keys import CALL_BITS

if TYPE_CHECKING:
    from engine.agents.agent import Agent


NOBODY = -1


class DeadlineExceeded(BaseException):
    """An agent computed, or waited for an asyncio awaitable, for longer than the preset allows.

    It ends the turn, past every `except Exception`: an agent that went on could hang for ever, and its turn
    could not be repeated, for the journal does not hold when it was interrupted.
    """


class TurnEnded(Exception):
    """A turn that is repeated has come to where something else than its own code ended it; `kind` is what."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"ended here when it was first run ({kind})")
        self.kind = kind


class Owner(Protocol):
    """Whoever started an activation and is told how it ended."""

    group: int
    sent: dict[int, int]
    """Messages told to agents on other workers on behalf of this owner, by worker."""
    outstanding: int
    """Questions that its turns have given up and that are yet to be answered."""

    def returned(self, activation: Activation, value: Any) -> None:
        """The coroutine returned."""

    def raised(self, activation: Activation, error: BaseException) -> None:
        """An exception left the coroutine."""

    def settle(self) -> None:
        """A question that was outstanding is answered."""


class Activation:
    """One turn of one agent: a coroutine, and the key that its next call gets."""

    __slots__ = ("agent", "coroutine", "key", "owner", "told")

    def __init__(self, agent: Agent, coroutine: Coroutine[Any, Any, Any], key: int, owner: Owner) -> None:
        """Raises TypeError for what is no coroutine."""
        if type(coroutine) is not CoroutineType and not isinstance(
            coroutine, Coroutine
        ):  # the ABC costs 1 us
            raise TypeError(f"step() and receive() of {type(agent).__name__} have to be `async def`")
        self.agent = agent
        self.coroutine = coroutine
        self.key = key
        self.owner = owner
        self.told = 0
        """Messages that were told in this turn."""


class Scheduler:
    """Runs activations; at most one for each agent at any time, as an actor handles one message at a time."""

    def __init__(self, *, clock: Callable[[], float], deadline_s: float, wake: Callable[[], None]) -> None:
        self.active: dict[int, Activation] = {}
        """By agent id, in order of start."""
        self.running: Activation | None = None
        self.mark: MutableSequence[int] | memoryview[int] = [NOBODY]
        """Its one element is the key of the turn that is running, for whoever finds this worker dead."""
        self.ends: Mapping[int, End] = {}
        """By round and agent: turns that end when they are to go on from a key, and why."""
        self.fatal: Exception | None = None
        """Set by what an agent's call has found to end the whole run; the worker raises it."""
        self._clock = clock
        self._deadline_s = deadline_s
        self._wake = wake
        self._ready: deque[Callable[[], None]] = deque()
        self._next: dict[int, Activation] = {}
        self._bridged: dict[Activation, tuple[Future[Any], float]] = {}
        self._advances = 0
        self._is_watched = False
        self._seen = (0, 0.0)

    def begin(self, activation: Activation) -> None:
        """Run an activation up to its first wait, as soon as its agent is free.

        An agent may still be busy with an answer that the one who asked no longer waits for.
        """
        if activation.agent.id in self.active:
            self._next[activation.agent.id] = activation
            return
        self.active[activation.agent.id] = activation
        self._advance(activation, activation.coroutine.send, None)

    def complete(self, effect: Effect, value: Any) -> None:
        """Give an effect its value and run whoever waits for it."""
        if effect.gather is not None:
            effect.gather.take(self, effect.index, value)
        elif self.active.get(effect.activation.agent.id) is effect.activation:
            self._advance(effect.activation, effect.activation.coroutine.send, value)

    def fail(self, effect: Effect, error: BaseException) -> None:
        """Raise an error where the effect is awaited."""
        if effect.gather is not None:
            effect.gather.miss(self, effect.index, error)
        elif self.active.get(effect.activation.agent.id) is effect.activation:
            self._advance(effect.activation, effect.activation.coroutine.throw, error)

    def later(self, effect: Effect, value: Any, error: Exception | None = None) -> None:
        """Complete or fail an effect from the worker's loop."""
        if error is None:
            self.soon(partial(self.complete, effect, value))
        else:
            self.soon(partial(self.fail, effect, error))

    def soon(self, action: Callable[[], None]) -> None:
        """Do something from the worker's loop, so that a chain of agents is no deep recursion."""
        self._ready.append(action)

    def run_ready(self) -> None:
        """Do what `soon` and `later` have put off so far."""
        for _ in range(len(self._ready)):
            self._ready.popleft()()

    @property
    def has_ready(self) -> bool:
        """Whether `run_ready` has something to do."""
        return bool(self._ready)

    def _advance(self, activation: Activation, resume: Callable[[Any], Any], value: Any) -> None:
        """Let an agent go on up to its next wait; a wait that cannot even begin raises in the agent."""
        while True:
            if (
                self.ends
                and (end := self.ends.get(activation.key >> CALL_BITS))
                and activation.key >= end.key
            ):
                self._cut(activation, end.kind)
                return
            try:
                self.running = activation
                self.mark[0] = activation.key
                self._advances += 1
                effect = resume(value)
            except StopIteration as stop:
                self._end(activation)
                activation.owner.returned(activation, stop.value)
                return
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # other people's code: sys.exit() stops that agent only
                self._end(activation)
                activation.owner.raised(activation, error)
                return
            self.running = None
            self.mark[0] = NOBODY
            try:
                self._wait(activation, effect)
            except SimtuiError as error:  # not the agent's fault, nor its business
                self.fatal = error
                return
            except Exception as error:
                resume, value = activation.coroutine.throw, error
            else:
                return

    def _cut(self, activation: Activation, kind: str) -> None:
        """End a turn where it was ended before."""
        with suppress(BaseException):  # other people's code: what its `finally` does is its own affair
            activation.coroutine.close()
        self._end(activation)
        activation.owner.raised(activation, TurnEnded(kind))

    def _end(self, activation: Activation) -> None:
        self.running = None
        self.mark[0] = NOBODY
        del self.active[activation.agent.id]
        if self._next and (following := self._next.pop(activation.agent.id, None)):
            self.soon(partial(self.begin, following))

    def _wait(self, activation: Activation, effect: Any) -> None:
        if isinstance(effect, Effect):
            effect.activation = activation
            effect.gather = None
            effect.begin(self)
        elif effect is None:  # what asyncio.sleep(0) yields
            self.later(_Pause(activation), None)
        elif isinstance(effect, Future):
            self._bridge(activation, effect)
        else:
            raise TypeError(f"an agent cannot await {type(effect).__name__}")

    def _bridge(self, activation: Activation, future: Future[Any]) -> None:
        """Wait for the future that an ordinary asyncio awaitable has yielded."""
        future._asyncio_future_blocking = False
        self._bridged[activation] = (future, self._clock())
        future.add_done_callback(lambda _: self._unbridge(activation, future))

    def _unbridge(self, activation: Activation, future: Future[Any]) -> None:
        awaited, _ = self._bridged.get(activation, (None, 0.0))
        if awaited is future:
            del self._bridged[activation]
            self._advance(activation, activation.coroutine.send, None)
            self._wake()

    def expire(self) -> None:
        """End the turns that have waited too long for an asyncio awaitable."""
        now = self._clock()
        late = [a for a, (_, since) in self._bridged.items() if now - since > self._deadline_s]
        for activation in late:
            del self._bridged[activation]
            error = DeadlineExceeded(f"waited more than {self._deadline_s:g} s for an asyncio awaitable")
            self._advance(activation, activation.coroutine.throw, error)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Do something that may take as long as an agent may compute, within an agent's turn or without."""
        before = self.watch()
        try:
            yield
        finally:
            self.watch(before)

    def watch(self, on: bool = True) -> bool:
        """Begin or end what `watched` is about, as a context costs 1 us; return how it was before."""
        before, self._is_watched = self._is_watched, on
        self._advances += 1
        return before

    def interrupt_if_stuck(self) -> None:
        """Raise DeadlineExceeded if one agent has been computing for too long.

        To be called from a signal handler of the thread that runs the agents: then it is raised inside the
        agent's own code.
        """
        now = self._clock()
        if (self.running is None and not self._is_watched) or self._seen[0] != self._advances:
            self._seen = (self._advances, now)
        elif now - self._seen[1] > self._deadline_s:
            self._seen = (self._advances, now)
            raise DeadlineExceeded(f"computed for more than {self._deadline_s:g} s without a break")


class _Pause(Effect):
    """Lets others run first."""

    __slots__ = ()

    def __init__(self, activation: Activation) -> None:
        self.activation = activation
        self.gather = None

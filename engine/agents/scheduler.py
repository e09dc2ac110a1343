"""The trampoline: drives the coroutines of all agents on a worker, one `send` at a time.

It does no input or output. What an effect waits for is started by the effect, and whoever has the value hands
it to `complete` or `fail`.
"""

from __future__ import annotations

from asyncio import Future
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from engine.agents.effects import Effect

if TYPE_CHECKING:
    from engine.agents.agent import Agent


class DeadlineExceeded(Exception):
    """An agent computed, or waited for something other than its model, for longer than the preset allows."""


class Owner(Protocol):
    """Whoever started an activation and is told how it ended."""

    group: int
    sent: dict[int, int]
    """Messages told to agents on other workers on behalf of this owner, by worker."""

    def returned(self, activation: Activation, value: Any) -> None:
        """The coroutine returned."""

    def raised(self, activation: Activation, error: BaseException) -> None:
        """An exception left the coroutine."""


class Activation:
    """One turn of one agent: a coroutine, and the key that its next call gets."""

    __slots__ = ("agent", "coroutine", "key", "owner")

    def __init__(self, agent: Agent, coroutine: Coroutine[Any, Any, Any], key: int, owner: Owner) -> None:
        self.agent = agent
        self.coroutine = coroutine
        self.key = key
        self.owner = owner


class Scheduler:
    """Runs activations; at most one for each agent at any time, as an actor handles one message at a time."""

    def __init__(self, *, clock: Callable[[], float], deadline_s: float, wake: Callable[[], None]) -> None:
        self.active: dict[int, Activation] = {}
        """By agent id, in order of start."""
        self.running: Activation | None = None
        self._clock = clock
        self._deadline_s = deadline_s
        self._wake = wake
        self._ready: deque[tuple[Effect, Any, Exception | None]] = deque()
        self._bridged: dict[Activation, float] = {}
        self._advances = 0
        self._seen = (0, 0.0)

    def begin(self, activation: Activation) -> None:
        """Run an activation up to its first wait. Its agent must not be active."""
        self.active[activation.agent.id] = activation
        self._advance(activation, activation.coroutine.send, None)

    def complete(self, effect: Effect, value: Any) -> None:
        """Give an effect its value and run whoever waits for it."""
        if effect.gather is not None:
            effect.gather.take(self, effect.index, value)
        elif (activation := effect.activation).agent.id in self.active:
            self._advance(activation, activation.coroutine.send, value)

    def fail(self, effect: Effect, error: BaseException) -> None:
        """Raise an error where the effect is awaited."""
        if effect.gather is not None:
            effect.gather.abort(self, error)
        elif self.active.get(effect.activation.agent.id) is effect.activation:
            self._advance(effect.activation, effect.activation.coroutine.throw, error)

    def later(self, effect: Effect, value: Any, error: Exception | None = None) -> None:
        """Complete or fail an effect from the worker's loop: a chain of agents is no deep recursion."""
        self._ready.append((effect, value, error))

    def run_ready(self) -> None:
        """Do what `later` put off."""
        for _ in range(len(self._ready)):
            effect, value, error = self._ready.popleft()
            if error is None:
                self.complete(effect, value)
            else:
                self.fail(effect, error)

    @property
    def has_ready(self) -> bool:
        """Whether `run_ready` has something to do."""
        return bool(self._ready)

    def _advance(self, activation: Activation, resume: Callable[[Any], Any], value: Any) -> None:
        try:
            self.running = activation
            self._advances += 1
            effect = resume(value)
        except StopIteration as stop:
            self._end(activation)
            activation.owner.returned(activation, stop.value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # other people's code: sys.exit() stops that agent only
            self._end(activation)
            activation.owner.raised(activation, error)
        else:
            self.running = None
            self._wait(activation, effect)

    def _end(self, activation: Activation) -> None:
        self.running = None
        del self.active[activation.agent.id]

    def _wait(self, activation: Activation, effect: Any) -> None:
        if not isinstance(effect, Effect):
            self._bridge(activation, effect)
            return
        effect.activation = activation
        effect.gather = None
        try:
            effect.begin(self)
        except Exception as error:
            self._advance(activation, activation.coroutine.throw, error)

    def _bridge(self, activation: Activation, awaited: Any) -> None:
        """Wait for what an ordinary asyncio awaitable yields: a future, or None for "let others run"."""
        if awaited is None:
            self.later(_Pause(activation), None)
        elif isinstance(awaited, Future):
            awaited._asyncio_future_blocking = False
            self._bridged[activation] = self._clock()
            awaited.add_done_callback(lambda _: self._unbridge(activation))
        else:
            error = TypeError(f"an agent cannot await {type(awaited).__name__}; see docs/scenarios.md")
            self._advance(activation, activation.coroutine.throw, error)

    def _unbridge(self, activation: Activation) -> None:
        if self._bridged.pop(activation, None) is not None:
            self._advance(activation, activation.coroutine.send, None)
            self._wake()

    def expire(self) -> None:
        """Raise DeadlineExceeded in agents that have waited too long for an asyncio awaitable."""
        now = self._clock()
        late = [a for a, since in self._bridged.items() if now - since > self._deadline_s]
        for activation in late:
            del self._bridged[activation]
            error = DeadlineExceeded(f"waited more than {self._deadline_s:g} s for an asyncio awaitable")
            self._advance(activation, activation.coroutine.throw, error)

    def interrupt_if_stuck(self) -> None:
        """Raise DeadlineExceeded if one agent has been computing for too long.

        To be called from a signal handler of the thread that runs the agents: then it is raised inside the
        agent's own code.
        """
        now = self._clock()
        if self.running is None or self._seen[0] != self._advances:
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

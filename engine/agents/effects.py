"""What an agent can wait for.

An agent's coroutine never waits on an event loop: it yields an effect, and the scheduler sends the value back
in when it is there. That costs a tenth of an asyncio task per agent in time and memory.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.agents.scheduler import Activation, Scheduler


class AnswerFailed(Exception):
    """The model gave no acceptable answer and the preset says to leave the agent out of this round.

    An agent may catch it and go on; otherwise its round ends without a value.
    """


class Effect:
    """Base of everything that can be awaited in an agent. An effect is used once."""

    __slots__ = ("activation", "gather", "index")

    activation: Activation
    """Who waits; set when the wait begins."""
    gather: Gather | None
    """The gather that this effect is a part of, at `index`."""
    index: int

    def __await__(self) -> Generator[Effect, Any, Any]:
        """Yield to the scheduler; the value that it sends in is the result."""
        return (yield self)

    def begin(self, scheduler: Scheduler) -> None:
        """Start what is waited for. Called by the scheduler once `activation` is set."""
        raise NotImplementedError


class Gather(Effect):
    """Waits for several effects at once; the result is the list of theirs, in order."""

    __slots__ = ("_effects", "_errors", "_missing", "_values")

    def __init__(self, effects: tuple[Effect, ...]) -> None:
        self._effects = effects
        self._missing = len(effects)
        self._values: list[Any] = [None] * len(effects)
        self._errors: dict[int, BaseException] = {}

    def begin(self, scheduler: Scheduler) -> None:
        """Start all parts."""
        if not self._effects:
            scheduler.later(self, [])
        for index, effect in enumerate(self._effects):
            effect.activation, effect.gather, effect.index = self.activation, self, index
            try:
                effect.begin(scheduler)
            except Exception as error:
                scheduler.later(effect, None, error)

    def take(self, scheduler: Scheduler, index: int, value: Any) -> None:
        """Receive the value of one part."""
        self._values[index] = value
        self._ended(scheduler)

    def miss(self, scheduler: Scheduler, index: int, error: BaseException) -> None:
        """Note that one part has failed."""
        self._errors[index] = error
        self._ended(scheduler)

    def _ended(self, scheduler: Scheduler) -> None:
        # Not before all parts have ended: it must not matter which of two was the first to fail, nor whether
        # the round is over before a part that nobody waits for.
        self._missing -= 1
        if self._missing:
            return
        if self._errors:
            scheduler.fail(self, self._errors[min(self._errors)])
        else:
            scheduler.complete(self, self._values)


def gather(*effects: Effect) -> Gather:
    """Wait for several model calls or asks at once: `a, b = await gather(first, second)`.

    If some fail, the error of the first of these is raised when all have ended. Raises TypeError for anything
    else: asyncio.gather is for asyncio's awaitables.
    """
    for effect in effects:
        if not isinstance(effect, Effect):
            raise TypeError(f"gather() is for model calls and asks, not for {type(effect).__name__}")
    return Gather(effects)

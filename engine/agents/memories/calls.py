"""Calls whose prompts are made, and kept within the budget, when the model is asked."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from engine.agents.calls import ModelCall
from engine.agents.effects import Effect
from engine.agents.memories.composition import Composition, TooLong, Turns
from engine.agents.memory import Prompt
from engine.agents.replies import Asked
from engine.models.answers import Problem, Unreadable

if TYPE_CHECKING:
    from engine.agents.memories.managed import Managed
    from engine.agents.model import Model
    from engine.agents.scheduler import Scheduler

LEFT_OUT = "left out"
"""What the ledger says of a prompt that lacks some of what was remembered. The agent does not count as
affected: that is how the preset wants it."""
OVER_BUDGET = "over budget"
"""Of a prompt that is too long even with nothing remembered."""


class FittedCall(ModelCall):
    """A call within its memory's budget, whatever is said about bad replies to it."""

    __slots__ = ("_composition", "_fitted", "_level", "_memory", "_quoted")

    def __init__(self, model: Model, prompt: Prompt, answer: Asked, facts: Any, memory: Managed) -> None:
        super().__init__(model, prompt, answer, facts)
        self._memory = memory
        self._composition: Composition | None = None
        self._level = 0
        self._quoted: Turns = ()
        self._fitted: Prompt | None = None
        """What `prompt` was made by fitting it; another one is yet to be fitted."""

    def begin(self, scheduler: Scheduler) -> None:
        """Queue the request; one that cannot be short enough ends as a reply without an answer does."""
        try:
            super().begin(scheduler)
        except TooLong:
            self._refuse()

    def encoded_tail(self) -> bytes:
        """Return the messages as they go over the wire, once they fit. May raise TooLong."""
        if self._composition is None:
            self._fit()
        elif self.prompt is not self._fitted:
            self._fit_again(self._composition)
        return super().encoded_tail()

    def compose(self) -> tuple[Composition, list[str]]:
        """Return the parts of the prompt, and the texts that memory has no room for by now."""
        raise NotImplementedError

    def settle(self, composition: Composition, level: int) -> None:
        """Tell the memory what the prompt has become."""

    def _fit(self) -> None:
        composition, forgotten = self.compose()
        try:
            self._level = composition.fitting(self._memory.fits)
        except TooLong:
            self._note(forgotten)
            raise
        self._composition = composition
        self._send(composition, self._level, ())
        self._note(forgotten + composition.left_out(self._level))
        self.settle(composition, self._level)

    def _fit_again(self, composition: Composition) -> None:
        """Make room for what is said about a bad reply: of this prompt alone, more is left out.

        If there is not enough, only the last bad reply is quoted; if even so, none.
        """
        last = self.prompt.tail[-2:]
        for quoted in ((*self._quoted, *last), last, ()):
            try:
                level = composition.fitting(self._memory.fits, self._level, quoted)
            except TooLong:
                continue
            self._send(composition, level, quoted)
            self._note(composition.left_out(level, self._level))
            return

    def _send(self, composition: Composition, level: int, quoted: Turns) -> None:
        self._quoted = quoted
        self.prompt = self._fitted = Prompt(self._memory.base, (*composition.tail(level), *quoted))

    def _note(self, gone: list[str]) -> None:
        if gone:
            n_tokens = sum(map(self._memory.counter.text, gone))
            detail = f"{len(gone)} messages, {n_tokens} tokens"
            self.model._record.failure(self.key, LEFT_OUT, detail, LEFT_OUT)

    def _refuse(self) -> None:
        budget = self._memory.settings.budget_tokens
        detail = f"memory.budget_tokens = {budget} has no room for the rules, the persona and the question"
        policy = self.on_failure or self.model._policy.on_failure
        self.model._record.failure(self.key, OVER_BUDGET, detail, policy)
        self.model._give_up(self, Unreadable(Problem.CONTEXT, detail))


class Recall(FittedCall):
    """A question of the agent to its model; first the memory may ask the model something of its own."""

    __slots__ = ()

    def __await__(self) -> Generator[Effect, Any, Any]:
        """Yield the memory's calls, then this one. Within `gather` there are no calls of the memory."""
        yield from self._memory.chores(self.model, self.prompt.tail[-1])
        return (yield self)

    def compose(self) -> tuple[Composition, list[str]]:
        """Return the prompt of what is remembered by now."""
        forgotten = self._memory.outdated()
        return self._memory.compose(self.prompt.tail[-1]), forgotten

    def settle(self, composition: Composition, level: int) -> None:
        """Have the memory forget what there was no room for."""
        self._memory.settle(composition, level)


class Chore(FittedCall):
    """A question of a memory to the model; `answers.on_failure` is about the agents' own."""

    __slots__ = ("_parts",)
    on_failure = "done without"

    def __init__(self, model: Model, memory: Managed, parts: Composition, answer: Asked) -> None:
        super().__init__(model, Prompt(memory.base, ()), answer, None, memory)
        self._parts = parts

    def compose(self) -> tuple[Composition, list[str]]:
        """Return the parts as they were given."""
        return self._parts, []

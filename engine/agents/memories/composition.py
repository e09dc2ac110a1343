"""A prompt in the making: what has to be in it, and what is left out first when it is too long."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from engine.agents.memory import said
from engine.models.protocol import Message

REMEMBERED = "What comes to your mind of earlier:"
Turns = tuple[Message, ...]


class TooLong(Exception):
    """What may not be left out has more tokens than the budget allows."""


class Composition:
    """The parts of one prompt. At level 0 all is there, at each higher level a bit less.

    First the recalled texts go, the least fitting of them first, then turns, the oldest exchange first, and
    the opening at the very last. The question and who the agent is stay.
    """

    __slots__ = ("opening", "persona", "question", "recalled", "starts", "turns")

    def __init__(
        self,
        question: Message,
        turns: Turns,
        *,
        opening: Turns = (),
        persona: str = "",
        recalled: Sequence[tuple[int, str]] = (),
    ) -> None:
        """`opening` is before the turns; `recalled` are texts with their place in time, the best first."""
        self.question = question
        self.turns = turns
        self.opening = opening
        self.persona = persona
        self.recalled = recalled
        self.starts = [*exchange_starts(turns)[1:], len(turns)] if turns else []
        """Where turns may begin once they are cut."""

    def n_recalled(self, level: int) -> int:
        """Return how many recalled texts are left."""
        return max(0, len(self.recalled) - level)

    def start(self, level: int) -> int:
        """Return where the turns begin."""
        cut = level - len(self.recalled)
        return self.starts[min(cut, len(self.starts)) - 1] if cut > 0 and self.starts else 0

    def tail(self, level: int) -> Turns:
        """Return the messages of the prompt, after those that many agents share."""
        opening = () if level > self._last_cut else self.opening
        turns = (*opening, *self.turns[self.start(level) :], self._asked(self.n_recalled(level)))
        if self.persona and not any(self.persona in turn.content for turn in turns):
            return (said("system", self.persona), *turns)
        return turns

    def left_out(self, level: int, above: int = 0) -> list[str]:
        """Return the texts that are not there any more, but are at the level `above`."""
        gone = [text for _, text in self.recalled[self.n_recalled(level) : self.n_recalled(above)]]
        turns = self.turns[self.start(above) : self.start(level)]
        if above <= self._last_cut < level:
            turns += self.opening
        return gone + [turn.content for turn in turns]

    def fitting(self, fits: Callable[[Turns], bool], lowest: int = 0, after: Turns = ()) -> int:
        """Return the lowest level from `lowest` on that fits with the messages `after`. Raises TooLong."""
        if fits((*self.tail(lowest), *after)):  # nearly always; counting is what costs
            return lowest
        levels = range(lowest + 1, self._last_cut + bool(self.opening) + 1)
        place = bisect_left(levels, True, key=lambda level: fits((*self.tail(level), *after)))
        if place == len(levels):
            raise TooLong
        return levels[place]

    @property
    def _last_cut(self) -> int:
        """The level at which neither recalled texts nor turns are left."""
        return len(self.recalled) + len(self.starts)

    def _asked(self, n: int) -> Message:
        if not n:
            return self.question
        told = "\n".join(f"- {text}" for _, text in sorted(self.recalled[:n]))
        return Message(self.question.role, f"{REMEMBERED}\n{told}\n\n{self.question.content}")


def exchange_starts(turns: Turns) -> list[int]:
    """Return where exchanges begin: at the first message, and at each of the user after a reply."""
    return [
        n
        for n, turn in enumerate(turns)
        if n == 0 or (turn.role == "user" and turns[n - 1].role == "assistant")
    ]


def last_exchanges(turns: Turns, n: int) -> int:
    """Return where the last n exchanges begin."""
    starts = exchange_starts(turns)
    return starts[-n] if 0 < n < len(starts) else (0 if n else len(turns))

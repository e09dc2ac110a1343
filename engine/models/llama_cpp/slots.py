"""Which branch is in which sequence of a context, and what of each goes into the next batch."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import ModelError
from engine.models.llama_cpp.batch import Tokens
from engine.models.llama_cpp.branch import Branch
from engine.models.llama_cpp.context import Context
from engine.models.llama_cpp.kv_cells import Cells, join
from engine.models.llama_cpp.prefix_tree import Promise


@dataclass(eq=False, slots=True)
class Running:
    """A branch in a sequence of the context."""

    sequence: int
    branch: Branch
    tokens: Tokens
    done: int
    """How many of the tokens have their cells."""
    promise: Promise | None
    row: int = -1
    """Row of the batch that has its logits, -1 if none."""

    @property
    def left(self) -> int:
        """How many tokens are still to be computed."""
        return len(self.tokens) - self.done

    @property
    def awaited(self) -> bool:
        """Whether all that was promised is there, and someone waits for it."""
        return self.promise is not None and self.promise.wanted and self.done >= len(self.promise.tokens)


class Slots:
    """The sequences of one context."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._running: dict[int, Running] = {}

    def __len__(self) -> int:
        return len(self._running)

    @property
    def full(self) -> bool:
        """Whether every sequence is taken."""
        return len(self._running) == self._context.sequences

    def running(self) -> list[Running]:
        """Return all branches under way."""
        return list(self._running.values())

    def start(
        self, branch: Branch, tokens: Tokens, room: int, cells: Sequence[Cells], promise: Promise | None
    ) -> Running:
        """Put a branch that may get as long as `room` into a free sequence, with the cells that are known.

        Raises ModelError if there is no memory for it.
        """
        if room > self._context.cells:
            self._context.grow(room)
        free = next(n for n in range(self._context.sequences) if n not in self._running)
        done = 0
        if cells and self._context.restore(free, join(cells)):
            done = sum(part.tokens for part in cells)
        running = self._running[free] = Running(free, branch, tokens, done, promise)
        return running

    def stop(self, running: Running) -> None:
        """Free a sequence."""
        del self._running[running.sequence]
        with contextlib.suppress(ModelError):  # of a context that is lost nothing needs to be cleared
            self._context.clear(running.sequence)

    def compose(self) -> None:
        """Fill the batch: a token of every branch that writes, then as much of the prompts as fits.

        llama.cpp computes together what stands side by side in order of the sequences (llama-batch.cpp,
        split_equal), so gaps are closed first.
        """
        self._close_gaps()
        batch = self._context.batch
        batch.clear()
        for running, share in self._shares(batch.capacity):
            end = running.done + share
            whole = end == len(running.tokens)
            row = batch.add(running.tokens[running.done : end], running.done, running.sequence, logits=whole)
            running.row = row if whole else -1
            running.done = end

    def _shares(self, room: int) -> list[tuple[Running, int]]:
        """How many tokens of which branch go into the batch, the shortest remainders first."""
        shares = []
        for running in sorted(self._running.values(), key=lambda running: running.left):
            running.row = -1
            share = min(running.left, room)
            if share:
                shares.append((running, share))
                room -= share
        return sorted(shares, key=lambda share: share[0].sequence)

    def _close_gaps(self) -> None:
        for gap in sorted(set(range(len(self._running))) - self._running.keys()):
            last = max(self._running)
            self._context.move(last, gap)
            self._running[gap] = self._running.pop(last)
            self._running[gap].sequence = gap

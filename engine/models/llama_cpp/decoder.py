"""The thread that owns a context: starts what waits, decodes all sequences together, answers what is done."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import ModelError
from engine.models.llama_cpp.batch import Tokens
from engine.models.llama_cpp.branch import Branch
from engine.models.llama_cpp.constraint import Forms
from engine.models.llama_cpp.context import Context
from engine.models.llama_cpp.kv_cells import UnknownLayout, cut, join
from engine.models.llama_cpp.model import Model
from engine.models.llama_cpp.prefix_tree import Promise
from engine.models.llama_cpp.prompts import ContextTooSmall, PromptWriter
from engine.models.llama_cpp.queue import Admission, Queue
from engine.models.llama_cpp.reply import Reply, reply_tokens
from engine.models.protocol import Catalogue, Finish

log = logging.getLogger(__name__)


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


@dataclass(frozen=True)
class Plan:
    """What all decoders of a backend share."""

    model: Model
    writer: PromptWriter
    forms: Forms
    queue: Queue
    catalogue: Catalogue
    seed: int
    context_tokens: int
    timeout_s: float | None
    clock: Callable[[], float]


class Decoder:
    """Runs one context until the queue is closed."""

    def __init__(self, plan: Plan, context: Context, number: int) -> None:
        """`number` counts the contexts that share the plan."""
        self._plan = plan
        self._number = number
        self._context = context
        self._running: dict[int, Running] = {}

    def run(self) -> None:
        """Work until the queue is closed. Every request taken is answered, even when something breaks."""
        while self._fill():
            try:
                if self._running:
                    self._close_gaps()
                    self._step()
            except Exception as error:
                log.exception("a batch failed in the llama.cpp backend")
                self._abandon(f"{type(error).__name__}: {error}")

    # -- starting

    def _fill(self) -> bool:
        """Start what waits while sequences are free; False once the queue is closed."""
        while len(self._running) < self._context.sequences:
            branch = self._plan.queue.take(self._number, len(self._running))
            if branch is None:
                return bool(self._running) and not self._plan.queue.closed
            try:
                self._consider(branch)
            except ContextTooSmall as error:
                branch.fail(Finish.CONTEXT, str(error), self._plan.clock())
            except Exception as error:
                if not isinstance(error, ModelError):
                    log.exception("a request could not be started in the llama.cpp backend")
                branch.fail(Finish.ERROR, str(error), self._plan.clock())
        return True

    def _consider(self, branch: Branch) -> None:
        """Start a branch if it is ready for it. Raises ModelError."""
        if not self._in_time(branch):
            return
        if branch.prompt is None:
            self._write_prompt(branch)
        assert branch.reply is not None
        if branch.reply.finish is not None:
            branch.start(self._plan.clock(), 0)
            branch.finish(self._plan.clock())
            return
        tokens = branch.tokens
        admission = self._plan.queue.admit(branch, tokens)
        if admission is not None:
            self._start(admission, tokens)

    def _write_prompt(self, branch: Branch) -> None:
        plan, request = self._plan, branch.members[0].request
        reply_room = min(reply_tokens(branch.form), plan.context_tokens // 2)
        prefix, messages = plan.catalogue.prefixes[request.prefix], plan.catalogue.messages(request)
        prompt = plan.writer.write(prefix, messages[len(prefix) :], plan.context_tokens - reply_room)
        limit = min(branch.form.sampling.max_tokens, plan.context_tokens - len(prompt.tokens))
        branch.begin(prompt.tokens, prompt.dropped, Reply(branch.form, plan.forms, plan.model, limit))

    def _start(self, admission: Admission, tokens: Tokens) -> None:
        branch = admission.branch
        need = min(len(tokens) + reply_tokens(branch.form), self._plan.context_tokens)
        if need > self._context.cells:
            self._context.grow(need)
        free = next(n for n in range(self._context.sequences) if n not in self._running)
        done = 0
        if admission.cells and self._context.restore(free, join(admission.cells)):
            done = sum(cells.tokens for cells in admission.cells)
        branch.start(self._plan.clock(), done)
        self._running[free] = Running(free, branch, tokens, done, admission.promise)

    # -- decoding

    def _step(self) -> None:
        self._compose()
        self._context.decode()
        for running in list(self._running.values()):
            if running.row >= 0:
                self._advance(running)
        for running in self._running.values():
            if running.promise is not None and running.promise.wanted:
                self._share(running)

    def _close_gaps(self) -> None:
        """Move the last sequences into gaps that others left: only neighbours are computed together."""
        for gap in sorted(set(range(len(self._running))) - self._running.keys()):
            last = max(self._running)
            self._context.move(last, gap)
            self._running[gap] = self._running.pop(last)
            self._running[gap].sequence = gap

    def _compose(self) -> None:
        """Fill the batch: one token of every sequence that writes, then as much of the prompts as fits.

        Rows go in order of the sequences, or llama.cpp breaks the batch into smaller ones (llama-batch.cpp).
        """
        batch = self._context.batch
        batch.clear()
        shares = self._shares(batch.capacity)
        for sequence, share in sorted(shares.items()):
            running = self._running[sequence]
            end = running.done + share
            whole = end == len(running.tokens)
            row = batch.add(running.tokens[running.done : end], running.done, sequence, logits=whole)
            running.row = row if whole else -1
            running.done = end

    def _shares(self, room: int) -> dict[int, int]:
        """How many tokens of each sequence go into the batch, the shortest remainders first."""
        shares = {}
        for running in sorted(self._running.values(), key=lambda running: len(running.tokens) - running.done):
            running.row = -1
            share = min(len(running.tokens) - running.done, room)
            if share:
                shares[running.sequence] = share
                room -= share
        return shares

    def _advance(self, running: Running) -> None:
        """Draw the next tokens of a sequence and see what becomes of it."""
        if not self._in_time(running.branch):
            self._stop(running)
            return
        try:
            branches = running.branch.grow(self._context.logits(running.row), self._plan.seed)
        except ModelError as error:
            running.branch.fail(Finish.ERROR, str(error), self._plan.clock())
            self._stop(running)
            return
        going = [branch for branch in branches if not self._finished(branch)]
        if len(going) > 1:
            self._share(running)
            self._plan.queue.put_back(going[1:])
        if going:
            running.branch, running.tokens = going[0], going[0].tokens
        else:
            self._share(running)
            self._stop(running)

    def _finished(self, branch: Branch) -> bool:
        assert branch.reply is not None
        if branch.reply.finish is None:
            return False
        branch.finish(self._plan.clock())
        return True

    def _in_time(self, branch: Branch) -> bool:
        timeout_s = self._plan.timeout_s
        return timeout_s is None or branch.expire(self._plan.clock(), timeout_s)

    # -- ending

    def _share(self, running: Running) -> None:
        """Make the cells of a sequence known to all, if the model's cells can be cut."""
        try:
            cells = cut(self._context.save(running.sequence), running.done)
        except UnknownLayout:
            self._plan.queue.give_up_sharing()
        else:
            self._plan.queue.keep(running.tokens[: running.done], cells, running.branch.members)
        self._withdraw(running)

    def _withdraw(self, running: Running) -> None:
        if running.promise is not None:
            self._plan.queue.take_back(running.promise)
            running.promise = None

    def _stop(self, running: Running) -> None:
        self._withdraw(running)
        self._context.clear(running.sequence)
        del self._running[running.sequence]

    def _abandon(self, reason: str) -> None:
        """Answer everything under way with an error."""
        for running in list(self._running.values()):
            running.branch.fail(Finish.ERROR, reason, self._plan.clock())
            self._stop(running)

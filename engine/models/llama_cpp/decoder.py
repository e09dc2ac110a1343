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
from engine.models.llama_cpp.kv_cells import UnknownLayout, cut
from engine.models.llama_cpp.model import Model
from engine.models.llama_cpp.prompts import ContextTooSmall, PromptWriter
from engine.models.llama_cpp.queue import Admission, Queue
from engine.models.llama_cpp.reply import Reply, reply_tokens
from engine.models.llama_cpp.slots import Running, Slots
from engine.models.protocol import Catalogue, Finish

log = logging.getLogger(__name__)


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
        self._context = context
        self._number = number
        self._slots = Slots(context)

    def run(self) -> None:
        """Work until the queue is closed. Every request taken is answered, even when something breaks."""
        while not self._plan.queue.closed:
            self._fill()
            try:
                if self._slots:
                    self._step()
            except Exception as error:
                log.exception("a batch failed in the llama.cpp backend")
                self._abandon(f"{type(error).__name__}: {error}")
        self._abandon("the model service was closed")

    def _fill(self) -> None:
        """Start what waits while sequences are free; with nothing to do, wait for work."""
        while not self._slots.full:
            branch = self._plan.queue.take(self._number, len(self._slots))
            if branch is None:
                return
            try:
                self._consider(branch)
            except ContextTooSmall as error:
                branch.fail(Finish.CONTEXT, str(error), self._plan.clock())
            except Exception as error:
                if not isinstance(error, ModelError):
                    log.exception("a request could not be started in the llama.cpp backend")
                branch.fail(Finish.ERROR, str(error), self._plan.clock())

    def _consider(self, branch: Branch) -> None:
        """Start a branch if it is ready for it. Raises ModelError."""
        if not self._in_time(branch):
            return
        if branch.prompt is None:
            self._write_prompt(branch)
        if self._finished(branch):
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
        room = min(len(tokens) + reply_tokens(branch.form), self._plan.context_tokens)
        try:
            running = self._slots.start(branch, tokens, room, admission.cells, admission.promise)
        except BaseException:
            if admission.promise is not None:  # others may be waiting for it
                self._plan.queue.take_back(admission.promise)
            raise
        branch.start(self._plan.clock(), running.done)

    def _step(self) -> None:
        self._slots.compose()
        self._context.decode()
        for running in self._slots.running():
            if running.row >= 0:
                self._advance(running)
        for running in self._slots.running():
            if running.awaited:
                self._share(running)

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
        if len(going) != 1:
            self._share(running)
        if going:
            self._plan.queue.put_back(going[1:])
            running.branch, running.tokens = going[0], going[0].tokens
        else:
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

    def _share(self, running: Running) -> None:
        """Make the cells of a sequence known to all, if the model's cells can be cut."""
        try:
            cells = cut(self._context.save(running.sequence), running.done)
        except UnknownLayout:
            self._plan.queue.give_up_sharing()
        else:
            self._plan.queue.keep(running.tokens[: running.done], cells, running.branch.members)
        self._withdraw(running)

    def _stop(self, running: Running) -> None:
        self._withdraw(running)
        self._slots.stop(running)

    def _withdraw(self, running: Running) -> None:
        if running.promise is not None:
            self._plan.queue.take_back(running.promise)
            running.promise = None

    def _abandon(self, reason: str) -> None:
        """Answer everything under way with an error."""
        for running in self._slots.running():
            running.branch.fail(Finish.ERROR, reason, self._plan.clock())
            self._stop(running)
